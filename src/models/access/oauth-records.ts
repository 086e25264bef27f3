import { type Connection, type Model, Schema } from 'mongoose';
import { hashSecret } from '../../domain/access/secret-hash.js';
import { profileOfSubject } from '../../domain/access/subject.js';
import { isDuplicateKey } from '../mongo/duplicate-key.js';

/** What the OAuth library stores: tokens, codes, sessions, grants. Only the fields that are used here. */
export interface OAuthPayload {
  kind?: string;
  jti?: string;
  uid?: string;
  grantId?: string;
  clientId?: string;
  /** The subject of the person who allowed it; absent with client credentials. */
  accountId?: string | undefined;
  scope?: string;
  /** Of a code: where the person was sent with it. */
  redirectUri?: string;
  /** Of a grant: the scopes that the person allowed. */
  openid?: { scope?: string };
  /** Seconds since the epoch. */
  exp?: number;
  /** Seconds since the epoch when it was used up. */
  consumed?: number;
  extra?: { account_id?: string };
  [field: string]: unknown;
}

interface RecordDocument {
  /** SHA-256 of the id. The id is the token itself, which must not be usable by somebody who reads the database. */
  _id: string;
  kind: string;
  uid?: string | null;
  /** JSON without the id. */
  payload: string;
  expires_at: Date;
}

/** A mark that something ended before it expired. */
interface MarkDocument {
  /** `consumed:`, `revoked:`, `grant:`, `client:` or `profile:`, and what of. */
  _id: string;
  at: Date;
}

/** Expired tokens are kept this long, seconds, so that the answer can be `expired_token` rather than `invalid_token`. */
const KEPT_AFTER_EXPIRY_S = 24 * 3_600;
/** Longer than any token lives, seconds: 60 days. */
const MARK_LIFETIME_S = 60 * 24 * 3_600;

/** @param keptFor how long after its expiry a record is kept, seconds */
const recordSchema = (keptFor: number) =>
  new Schema<RecordDocument>(
    {
      _id: String,
      kind: { type: String, required: true },
      uid: { type: String, index: true, sparse: true },
      payload: { type: String, required: true },
      expires_at: { type: Date, required: true, expires: keptFor },
    },
    { versionKey: false },
  );
const markSchema = new Schema<MarkDocument>(
  { _id: String, at: { type: Date, required: true, expires: MARK_LIFETIME_S } },
  { versionKey: false },
);

/** Never changed once written: a mark beside it says that it was used or revoked. */
const IMMUTABLE = new Set(['AccessToken', 'ClientCredentials', 'RefreshToken', 'AuthorizationCode']);

/**
 * The records of the OAuth server. Tokens are inserted and never updated; a mark with a unique `_id` ends a token, a grant, or everything
 * of a client or a profile.
 */
export class OAuthRecordRepository {
  private readonly tokens: Model<RecordDocument>;
  private readonly state: Model<RecordDocument>;
  private readonly marks: Model<MarkDocument>;

  constructor(connection: Connection) {
    this.tokens = connection.model<RecordDocument>(
      'oauth_token',
      recordSchema(KEPT_AFTER_EXPIRY_S),
      'oauth_tokens',
    );
    this.state = connection.model<RecordDocument>('oauth_state', recordSchema(0), 'oauth_state');
    this.marks = connection.model<MarkDocument>('oauth_mark', markSchema, 'oauth_marks');
  }

  /** Writes a record. @param lifetime seconds */
  async save(
    kind: string,
    id: string,
    { jti: _, ...payload }: OAuthPayload,
    lifetime: number,
  ): Promise<void> {
    const document: RecordDocument = {
      _id: hashSecret(id),
      kind,
      ...(payload.uid !== undefined && { uid: payload.uid }),
      payload: JSON.stringify(payload),
      expires_at: new Date(Date.now() + lifetime * 1_000),
    };
    if (IMMUTABLE.has(kind)) {
      await this.tokens.create(document);
      return;
    }
    await this.state.replaceOne({ _id: document._id }, document, { upsert: true });
  }

  /** A record that has not been revoked, with the time at which it was used up, if it was. */
  async find(kind: string, id: string): Promise<OAuthPayload | undefined> {
    const document = await this.collection(kind).findById(hashSecret(id)).lean();
    if (document?.kind !== kind) return undefined;
    const payload = { ...(JSON.parse(document.payload) as OAuthPayload), jti: id };
    const [revoked, consumed] = await Promise.all([
      this.isRevoked(document._id, payload),
      this.marks.findById(`consumed:${document._id}`).lean(),
    ]);
    if (revoked) return undefined;
    return consumed ? { ...payload, consumed: Math.floor(consumed.at.getTime() / 1_000) } : payload;
  }

  /** A session by its public name. */
  async findByUid(kind: string, uid: string): Promise<OAuthPayload | undefined> {
    const document = await this.collection(kind).findOne({ uid, kind }).lean();
    return document ? (JSON.parse(document.payload) as OAuthPayload) : undefined;
  }

  /**
   * Uses up a code or a refresh token. A second use ends the whole grant, even if both come at the same moment: one of the two callers has
   * stolen it, and it is not known which (RFC 9700, section 4.14.2).
   *
   * @returns whether this was the first use
   */
  async consume(id: string): Promise<boolean> {
    const hash = hashSecret(id);
    if (await this.mark(`consumed:${hash}`)) return true;
    const document = await this.tokens.findById(hash).lean();
    const { grantId } = JSON.parse(document?.payload ?? '{}') as OAuthPayload;
    if (grantId) await this.revokeAllOf('grant', grantId);
    return false;
  }

  /** Ends the session with that public name. */
  async endSession(uid: string): Promise<void> {
    await this.state.deleteMany({ uid, kind: 'Session' });
  }

  /** Ends one record. */
  async revoke(kind: string, id: string): Promise<void> {
    const hash = hashSecret(id);
    if (IMMUTABLE.has(kind)) await this.mark(`revoked:${hash}`);
    else await this.state.deleteOne({ _id: hash });
  }

  /** Ends every token of a grant, of a client, or of a profile. */
  async revokeAllOf(what: 'grant' | 'client' | 'profile', id: string): Promise<void> {
    await this.mark(`${what}:${id}`);
  }

  /** The record of an access token, by its hash, even if it has expired or was revoked. */
  async findAccessToken(hash: string): Promise<{ record: OAuthPayload; revoked: boolean } | undefined> {
    const document = await this.tokens.findById(hash).lean();
    if (document?.kind !== 'AccessToken' && document?.kind !== 'ClientCredentials') return undefined;
    const record = JSON.parse(document.payload) as OAuthPayload;
    return { record, revoked: await this.isRevoked(hash, record) };
  }

  private async isRevoked(hash: string, { grantId, clientId, accountId }: OAuthPayload): Promise<boolean> {
    const marks = [
      `revoked:${hash}`,
      ...(grantId ? [`grant:${grantId}`] : []),
      ...(clientId ? [`client:${clientId}`] : []),
      ...(accountId ? [`profile:${profileOfSubject(accountId)}`] : []),
    ];
    const found = await Promise.all(marks.map((_id) => this.marks.findById(_id).lean()));
    return found.some((mark) => mark !== null);
  }

  private collection(kind: string): Model<RecordDocument> {
    return IMMUTABLE.has(kind) ? this.tokens : this.state;
  }

  /** @returns whether it is new */
  private async mark(_id: string): Promise<boolean> {
    try {
      await this.marks.create({ _id, at: new Date() });
      return true;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return false;
    }
  }
}
