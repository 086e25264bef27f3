import { randomBytes } from 'node:crypto';
import type { Scope } from './api-key.js';

/** The grants that a client can be registered for. */
export const GRANT_TYPES = ['client_credentials', 'authorization_code', 'refresh_token'] as const;
export type GrantType = (typeof GRANT_TYPES)[number];

/** How a client proves who it is; `none` for a public one, such as an application on people's own devices. */
export const CLIENT_AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'none'] as const;
export type ClientAuthMethod = (typeof CLIENT_AUTH_METHODS)[number];

/** An application that gets OAuth tokens for an account. */
export interface OAuthClient {
  id: string;
  account_id: string;
  name: string;
  grant_types: GrantType[];
  redirect_uris: string[];
  /** What its tokens may be allowed at most. */
  scopes: Scope[];
  token_endpoint_auth_method: ClientAuthMethod;
  created_at: string;
}

/** A new client secret: `hlcs_`, for scanners, and 32 random bytes. */
export function newClientSecret(): string {
  return `hlcs_${randomBytes(32).toString('base64url')}`;
}

/** Whether a redirect URI may be registered: https, or http on this machine's loopback (RFC 8252, section 7.3); no fragment. */
export function isRedirectUri(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const loopback = ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
  return (url.protocol === 'https:' || (url.protocol === 'http:' && loopback)) && !text.includes('#');
}
