import { type Connection, Schema } from 'mongoose';
import { PORTAL_TOKEN, type PortalScope, type PortalSession } from '../../domain/access/portal-session.js';
import { hashSecret } from '../../domain/access/secret-hash.js';
import { newId } from '../../domain/basics/ids.js';
import type { Origin } from '../../domain/change/change.js';
import { TIMINGS, type Timings } from '../../domain/timings.js';
import type { ChangeRepository } from '../change/changes.js';
import { Recorded } from '../change/recorded.js';
import { type RecordedFields, recordedFields } from '../change/recorded-fields.js';
import { ShortCache } from '../mongo/short-cache.js';

/** What a session is made with. */
export interface PortalSessionInput {
  name: string;
  scopes: readonly PortalScope[];
  expires_at: Date;
}

interface SessionDocument extends RecordedFields {
  /** SHA-256 of the token. */
  _id: string;
  session_id: string;
  account_id: string;
  name: string;
  scopes: PortalScope[];
  created_at: Date;
  expires_at: Date;
  revoked_at?: Date | null;
}

/** A session is kept this long after it has expired, seconds, so that its token is answered `expired_token` and not `invalid_token`. */
const KEPT_AFTER_EXPIRY_S = 24 * 3_600;

const schema = new Schema<SessionDocument>(
  {
    _id: String,
    session_id: { type: String, required: true, index: true },
    account_id: { type: String, required: true },
    name: { type: String, required: true },
    scopes: { type: [String], required: true },
    created_at: { type: Date, required: true },
    expires_at: { type: Date, required: true, expires: KEPT_AFTER_EXPIRY_S },
    revoked_at: Date,
    ...recordedFields,
  },
  { versionKey: false },
);
schema.index({ account_id: 1, session_id: 1 });

export class PortalSessionRepository {
  private readonly documents: Recorded<SessionDocument>;
  /** A revoked session may still be accepted for as long as it is remembered. */
  private readonly cache: ShortCache<PortalSession | undefined>;

  constructor(connection: Connection, changes: ChangeRepository, { token_lifetime_ms }: Timings = TIMINGS) {
    this.cache = new ShortCache(token_lifetime_ms);
    const model = connection.model<SessionDocument>('portal_session', schema, 'portal_sessions');
    this.documents = new Recorded(model, changes, {
      kind: 'portal_session',
      idOf: ({ session_id }) => session_id,
      accountField: 'account_id',
      show: (document) => ({ ...toSession(document) }),
    });
  }

  /** Makes a session. The token is in the result and nowhere else: only its hash is kept. */
  async create(
    accountId: string,
    input: PortalSessionInput,
    origin: Origin,
  ): Promise<{ token: string; session: PortalSession }> {
    const token = PORTAL_TOKEN.make();
    const document = {
      ...input,
      _id: hashSecret(token),
      session_id: newId('portal_session'),
      account_id: accountId,
      scopes: [...input.scopes],
      created_at: new Date(),
    };
    return { token, session: toSession(await this.documents.create(document, origin)) };
  }

  /** The session of a token, even if it has expired or was revoked; `undefined` if there is no such session. */
  async find(token: string): Promise<PortalSession | undefined> {
    return PORTAL_TOKEN.isOne(token) ? this.ofHash(hashSecret(token)) : undefined;
  }

  /** The session of a token's hash, as {@link find}. */
  ofHash(hash: string): Promise<PortalSession | undefined> {
    return this.cache.get(hash, async () => {
      const document = await this.documents.findOne({ _id: hash });
      return document ? toSession(document) : undefined;
    });
  }

  /** One session of an account, even if it has ended; `undefined` if the account has no such session. */
  async get(accountId: string, sessionId: string): Promise<PortalSession | undefined> {
    const document = await this.documents.findOne({ account_id: accountId, session_id: sessionId });
    return document && toSession(document);
  }

  /** Sessions of an account after the one named, oldest first, including those that have ended within the last day. */
  async list(accountId: string, limit: number, after?: string): Promise<PortalSession[]> {
    const documents = await this.documents
      .find({ account_id: accountId, ...(after !== undefined && { session_id: { $gt: after } }) })
      .sort({ session_id: 1 })
      .limit(limit)
      .lean();
    return documents.map(toSession);
  }

  /**
   * Ends a session for good; it stays in the list. Processes may accept its token for two more seconds.
   *
   * @returns whether the account had such a session that was not revoked yet
   */
  async revoke(accountId: string, sessionId: string, origin: Origin): Promise<boolean> {
    const ofSession = { account_id: accountId, session_id: sessionId };
    const revoked = await this.documents.change(ofSession, origin, ({ revoked_at }, now) =>
      revoked_at ? undefined : { action: 'revoked', set: { revoked_at: now } },
    );
    if (!revoked) return false;
    this.cache.forget(revoked.after._id);
    return true;
  }

  /** Ends every session of an account. @returns how many */
  async revokeAll(accountId: string, origin: Origin): Promise<number> {
    const sessions = await this.documents.find({ account_id: accountId, revoked_at: null }).lean();
    let revoked = 0;
    for (const { session_id } of sessions) if (await this.revoke(accountId, session_id, origin)) revoked += 1;
    return revoked;
  }
}

function toSession(document: SessionDocument): PortalSession {
  const { session_id, account_id, name, scopes, created_at, expires_at, revoked_at } = document;
  return {
    id: session_id,
    account_id,
    name,
    scopes,
    created_at: created_at.toISOString(),
    expires_at: expires_at.toISOString(),
    ...(revoked_at && { revoked_at: revoked_at.toISOString() }),
  };
}
