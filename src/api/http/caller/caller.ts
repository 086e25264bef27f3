import type { Scope } from '../../../domain/access/api-key.js';
import type { DeskRole } from '../../../domain/access/desk-session.js';

/** Owners that a token can have. */
export const CALLER_TYPES = ['api_key', 'oauth_client', 'portal_session', 'desk_session'] as const;

/** Authenticated sender of a request. */
export interface Caller {
  type: (typeof CALLER_TYPES)[number];
  /** The account that it acts for. */
  account_id: string;
  /** The account of the token, if it acts for another one. */
  home_account_id?: string;
  /** Whether the request names the account that it acts for. */
  names_account?: boolean;
  /** The id of the API key or the session, or of the OAuth client that holds the token. */
  id: string;
  /** SHA-256 of its token, by which the token can be checked again. */
  token_hash: string;
  /** The name of the API key, the portal session or the person at the desk; absent for OAuth clients. */
  name?: string;
  /** The person who signed in to the desk, and the person's role. */
  person?: { subject: string; role: DeskRole };
  /** The session at the desk that it is, or that its API key or portal session was made in: they end with it. */
  desk_session_id?: string;
  /** The profile behind the token: what `GET /me` answers. */
  profile_id: string;
  scopes: readonly Scope[];
  /**
   * When an API key or a session stops working, ISO 8601; absent if it does not, and for OAuth tokens, whose
   * client or person stays.
   */
  expires_at?: string;
  /** When the token stops working, ISO 8601; absent if it does not. */
  token_expires_at?: string;
}
