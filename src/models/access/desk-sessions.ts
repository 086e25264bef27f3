import type { Connection } from 'mongoose';
import { DESK_TOKEN, type DeskRole, type DeskSession } from '../../domain/access/desk-session.js';
import { hashSecret } from '../../domain/access/secret-hash.js';
import { UNITS } from '../../domain/basics/duration.js';
import { newId } from '../../domain/basics/ids.js';
import { DEFAULT_CHANGES_DAYS, type Origin } from '../../domain/change/change.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import type { Timings } from '../../domain/timings.js';
import { recordedFields } from '../change/change-document.js';
import type { ChangeRepository } from '../change/changes.js';
import { collection, type DocumentIn, may, must } from '../mongo/collection.js';
import { ShortCache } from '../mongo/short-cache.js';
import { RevocableRepository } from './revocable.js';

const deskSessions = collection(
  'desk_sessions',
  {
    _id: must(String),
    session_id: must(String, { index: true }),
    account_id: must(String),
    issuer: must(String),
    subject: must(String),
    name: must(String),
    role: must<DeskRole>(String),
    created_at: must(Date),
    /** A session is kept as long as changes are, so that these can be shown with the name of the person. */
    expires_at: must(Date, { expires: (DEFAULT_CHANGES_DAYS * UNITS.d) / UNITS.s }),
    revoked_at: may(Date),
    ...recordedFields,
  },
  {
    indexes: [
      { account_id: 1, session_id: 1 },
      { subject: 1, created_at: -1 },
    ],
  },
);
type DeskSessionDocument = DocumentIn<typeof deskSessions>;

/** Sessions of people at the desk. */
export class DeskSessionRepository extends RevocableRepository<DeskSessionDocument, DeskSession> {
  /** Remembered as long as by token: what was made in a session ends when the session does. */
  private readonly byId: ShortCache<DeskSession | undefined>;

  constructor(connection: Connection, changes: ChangeRepository, { token_lifetime_ms }: Timings) {
    super(deskSessions(connection), changes, token_lifetime_ms, {
      kind: 'desk_session',
      idField: 'session_id',
      shown: toSession,
    });
    this.byId = new ShortCache(token_lifetime_ms);
  }

  /** A session, even if it has ended; `undefined` if there is none. */
  ofId(id: string): Promise<DeskSession | undefined> {
    return this.byId.get(id, async () => {
      const document = await this.documents.findOne({ session_id: id });
      return document && toSession(document);
    });
  }

  override async revoke(accountId: string, id: string, origin: Origin): Promise<boolean> {
    const revoked = await super.revoke(accountId, id, origin);
    this.byId.forget(id);
    return revoked;
  }

  /** Makes a session. The token is in the result and nowhere else: only its hash is kept. */
  async create(
    input: Pick<DeskSession, 'account_id' | 'issuer' | 'subject' | 'name' | 'role'> & { expires_at: Date },
    origin: Origin,
  ): Promise<{ token: string; session: DeskSession }> {
    const token = DESK_TOKEN.make();
    const document = {
      ...input,
      _id: hashSecret(token),
      session_id: newId('desk_session'),
      created_at: sharedDate(),
    };
    return { token, session: toSession(await this.documents.create(document, origin)) };
  }

  /** Sessions that have not ended, of all accounts, the latest first. @param before the id of one */
  async live(now: Date, limit: number, before?: string): Promise<DeskSession[]> {
    const isBefore = before !== undefined && { session_id: { $lt: before } };
    const filter = { expires_at: { $gt: now }, revoked_at: null, ...isBefore };
    const found = await this.model.find(filter).sort({ session_id: -1 }).limit(limit).lean();
    return found.map((document) => toSession(document as DeskSessionDocument));
  }

  /**
   * Names of people, by subject, as the identity provider had them when they last signed in.
   *
   * @param accountId only those who signed in to this account; absent: of any, for the operator alone
   */
  async namesOf(subjects: readonly string[], accountId?: string): Promise<Map<string, string>> {
    const names = new Map<string, string>();
    await Promise.all(
      [...new Set(subjects)].map(async (subject) => {
        const filter = { subject, ...(accountId !== undefined && { account_id: accountId }) };
        const latest = await this.model.findOne(filter).sort({ created_at: -1 }).lean();
        if (latest) names.set(subject, latest.name);
      }),
    );
    return names;
  }
}

function toSession(document: DeskSessionDocument): DeskSession {
  const { session_id, account_id, issuer, subject, name, role, created_at, expires_at, revoked_at } =
    document;
  return {
    id: session_id,
    account_id,
    issuer,
    subject,
    name,
    role,
    created_at: created_at.toISOString(),
    expires_at: expires_at.toISOString(),
    ...(revoked_at && { revoked_at: revoked_at.toISOString() }),
  };
}
