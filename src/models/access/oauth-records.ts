import type { Connection } from 'mongoose';
import { hashSecret } from '../../domain/access/secret-hash.js';
import { profileOfSubject } from '../../domain/access/subject.js';
import { UNITS } from '../../domain/basics/duration.js';
import { sharedDate, sharedNow } from '../../domain/time/shared-time.js';
import { collection, may, must } from '../mongo/collection.js';
import { wasMade } from '../mongo/duplicate-key.js';

/** Documents of the OAuth library: tokens, codes, sessions, grants. Only the fields that are used here. */
export interface OAuthPayload {
  kind?: string;
  jti?: string;
  uid?: string;
  grantId?: string;
  clientId?: string;
  /** The subject of the person who allowed it; absent with client credentials. */
  accountId?: string | undefined;
  scope?: string;
  /** Address that the person was sent to with a code. */
  redirectUri?: string;
  /** Scopes that the person allowed in a grant. */
  openid?: { scope?: string };
  /** Seconds since the epoch: stored by the clock that all processes share, and read by this machine's. */
  exp?: number;
  /** Seconds since the epoch when it was used up. */
  consumed?: number;
  extra?: { account_id?: string };
  [field: string]: unknown;
}

/** @param keptFor how long after its expiry a record is kept, seconds */
const records = (name: string, keptFor: number) =>
  collection(name, {
    /** SHA-256 of the id. The id is the token itself, which must not be usable by somebody who reads the database. */
    _id: must(String),
    kind: must(String),
    uid: may(String, { index: true, sparse: true }),
    /** JSON without the id. */
    payload: must(String),
    expires_at: must(Date, { expires: keptFor }),
  });
type RecordModel = ReturnType<ReturnType<typeof records>>;
/** Expired tokens are kept for a day, so that the response can be `expired_token` rather than `invalid_token`. */
const tokens = records('oauth_tokens', UNITS.d / UNITS.s);
const state = records('oauth_state', 0);
/** Marks that something ended before it expired. */
const marks = collection('oauth_marks', {
  /** `consumed:`, `revoked:`, `grant:`, `client:` or `profile:`, and what of. */
  _id: must(String),
  /** Kept for 60 days: longer than any token lives. */
  at: must(Date, { expires: (60 * UNITS.d) / UNITS.s }),
});

/** How far this machine's clock, which the library goes by, is behind the one that all processes share. Seconds. */
function secondsBehind(): number {
  return Math.round((sharedNow() - Date.now()) / 1_000);
}

/** A record with the times that the library compares, by another clock. @param by seconds */
function moved(payload: OAuthPayload, by: number): OAuthPayload {
  const times = (['exp', 'iat', 'loginTs'] as const).flatMap((name) => {
    const at = payload[name];
    return typeof at === 'number' ? [[name, at + by]] : [];
  });
  return { ...payload, ...Object.fromEntries(times) };
}

/** Never changed once written: a mark beside it says that it was used or revoked. */
const IMMUTABLE = new Set(['AccessToken', 'ClientCredentials', 'RefreshToken', 'AuthorizationCode']);

/**
 * The records of the OAuth server. Tokens are inserted and never updated; a mark with a unique `_id` ends a token, a
 * grant, or everything of a client or a profile.
 */
export class OAuthRecordRepository {
  private readonly tokens: RecordModel;
  private readonly state: RecordModel;
  private readonly marks: ReturnType<typeof marks>;

  constructor(connection: Connection) {
    this.tokens = tokens(connection);
    this.state = state(connection);
    this.marks = marks(connection);
  }

  /** Writes a record. @param lifetime seconds */
  async save(kind: string, id: string, { jti: _, ...own }: OAuthPayload, lifetime: number): Promise<void> {
    const payload = moved(own, secondsBehind());
    const document = {
      _id: hashSecret(id),
      kind,
      ...(payload.uid !== undefined && { uid: payload.uid }),
      payload: JSON.stringify(payload),
      expires_at: new Date(sharedNow() + lifetime * 1_000),
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
    const stored = JSON.parse(document.payload) as OAuthPayload;
    const payload = { ...moved(stored, -secondsBehind()), jti: id };
    const [revoked, consumed] = await Promise.all([
      this.isRevoked(document._id, payload),
      this.marks.findById(`consumed:${document._id}`).lean(),
    ]);
    if (revoked) return undefined;
    if (!consumed) return payload;
    return { ...payload, consumed: Math.floor(consumed.at.getTime() / 1_000) - secondsBehind() };
  }

  /** A session by its public name. */
  async findByUid(kind: string, uid: string): Promise<OAuthPayload | undefined> {
    const document = await this.collection(kind).findOne({ uid, kind }).lean();
    return document ? moved(JSON.parse(document.payload) as OAuthPayload, -secondsBehind()) : undefined;
  }

  /**
   * Uses up a code or a refresh token. A second use ends the whole grant, even if both come at the same moment: one of
   * the two callers has stolen it, and it is not known which (RFC 9700, section 4.14.2).
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
    const ids = [
      `revoked:${hash}`,
      ...(grantId ? [`grant:${grantId}`] : []),
      ...(clientId ? [`client:${clientId}`] : []),
      ...(accountId ? [`profile:${profileOfSubject(accountId)}`] : []),
    ];
    const found = await Promise.all(ids.map((_id) => this.marks.findById(_id).lean()));
    return found.some((mark) => mark !== null);
  }

  private collection(kind: string): RecordModel {
    return IMMUTABLE.has(kind) ? this.tokens : this.state;
  }

  /** @returns whether it is new */
  private mark(_id: string): Promise<boolean> {
    return wasMade(this.marks.create({ _id, at: sharedDate() }));
  }
}
