import type { Connection } from 'mongoose';
import { PORTAL_TOKEN, type PortalScope, type PortalSession } from '../../domain/access/portal-session.js';
import { hashSecret } from '../../domain/access/secret-hash.js';
import { UNITS } from '../../domain/basics/duration.js';
import { newId } from '../../domain/basics/ids.js';
import type { Origin } from '../../domain/change/change.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import type { Timings } from '../../domain/timings.js';
import { recordedFields } from '../change/change-document.js';
import type { ChangeRepository } from '../change/changes.js';
import { collection, type DocumentIn, may, must } from '../mongo/collection.js';
import { RevocableRepository } from './revocable.js';

/** Fields of a new session. */
export interface PortalSessionInput {
  name: string;
  scopes: readonly PortalScope[];
  expires_at: Date;
  return_url?: string | undefined;
  desk_session_id?: string | undefined;
}

const portalSessions = collection(
  'portal_sessions',
  {
    _id: must(String),
    session_id: must(String, { index: true }),
    account_id: must(String),
    name: must(String),
    scopes: must<PortalScope[]>([String]),
    created_at: must(Date),
    /**
     * A session is kept for a day after that, so that its token is answered `expired_token` and not `invalid_token`.
     */
    expires_at: must(Date, { expires: UNITS.d / UNITS.s }),
    revoked_at: may(Date),
    return_url: may(String),
    desk_session_id: may(String),
    ...recordedFields,
  },
  { indexes: [{ account_id: 1, session_id: 1 }] },
);
type SessionDocument = DocumentIn<typeof portalSessions>;

/** Sessions are listed for a day after they have ended. */
export class PortalSessionRepository extends RevocableRepository<SessionDocument, PortalSession> {
  constructor(connection: Connection, changes: ChangeRepository, { token_lifetime_ms }: Timings) {
    super(portalSessions(connection), changes, token_lifetime_ms, {
      kind: 'portal_session',
      idField: 'session_id',
      shown: toSession,
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
      created_at: sharedDate(),
    };
    return { token, session: toSession(await this.documents.create(document, origin)) };
  }

  /** The session of a token, even if it has expired or was revoked; `undefined` if there is no such session. */
  async find(token: string): Promise<PortalSession | undefined> {
    return PORTAL_TOKEN.isOne(token) ? this.ofHash(hashSecret(token)) : undefined;
  }
}

function toSession(document: SessionDocument): PortalSession {
  const { session_id, account_id, name, scopes, created_at, expires_at } = document;
  const { revoked_at, return_url, desk_session_id } = document;
  return {
    id: session_id,
    account_id,
    name,
    scopes,
    created_at: created_at.toISOString(),
    expires_at: expires_at.toISOString(),
    ...(revoked_at && { revoked_at: revoked_at.toISOString() }),
    ...(return_url && { return_url }),
    ...(desk_session_id && { desk_session_id }),
  };
}
