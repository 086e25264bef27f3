import { UNITS } from '../basics/duration.js';
import { isSecureOrLocal } from '../basics/parse-url.js';
import type { Scope } from './api-key.js';
import { TokenKind } from './checked-token.js';

export const PORTAL_TOKEN = new TokenKind('hlps_');

/**
 * All that a portal session can be allowed: nothing that makes keys, clients or accounts, and no events but test
 * events.
 */
export const PORTAL_SCOPES = [
  'endpoints:read',
  'endpoints:write',
  'deliveries:read',
  'deliveries:write',
  'secrets:read',
] as const satisfies readonly Scope[];

export type PortalScope = (typeof PORTAL_SCOPES)[number];

/** How long a portal session lasts, milliseconds: unless said otherwise, at least, and at most. */
export const PORTAL_SESSION_MS = { usual: UNITS.h, least: UNITS.m, most: UNITS.d } as const;

/** The access of a subscriber to one account, for a few hours. */
export interface PortalSession {
  id: string;
  account_id: string;
  /** Name of its subscriber. */
  name: string;
  scopes: PortalScope[];
  created_at: string;
  expires_at: string;
  revoked_at?: string;
  /** Where its holder gets another link. */
  return_url?: string;
  /** The session at the desk that it was made in, and ends with. */
  desk_session_id?: string;
}

/** Characters of a {@link PortalSession.return_url}. */
const MAX_RETURN_URL = 500;

/** Whether a page can lead people there: by https, or by http on their own machine. */
export function isReturnUrl(text: string): boolean {
  if (text.length > MAX_RETURN_URL || !URL.canParse(text)) return false;
  const url = new URL(text);
  return isSecureOrLocal(url) && url.username === '' && url.password === '';
}

/** The portal's address with a token in the fragment: browsers do not send fragments, so the token reaches no log. */
export function portalUrl(publicUrl: string, token: string): string {
  return `${publicUrl.replace(/\/$/, '')}/portal#token=${token}`;
}
