import { randomBytes } from 'node:crypto';
import { isSecureOrLocal, parseUrl } from '../basics/parse-url.js';
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
  /** Scopes that its tokens can have at most. */
  scopes: Scope[];
  token_endpoint_auth_method: ClientAuthMethod;
  created_at: string;
}

/** A new client secret: `hlcs_`, for scanners, and 32 random bytes. */
export function newClientSecret(): string {
  return `hlcs_${randomBytes(32).toString('base64url')}`;
}

/**
 * A host name, IPv4 address or bracketed IPv6 address: nothing that separates parts of a header in which its origin is
 * written.
 */
const HOST = /^(?:[a-z0-9.-]+|\[[0-9a-f:]+\])$/;
/** The characters of a URI (RFC 3986, section 2), without `#`. */
const URI = /^[A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=%]+$/;

/**
 * Whether a redirect URI may be registered: https, or http on this machine's loopback (RFC 8252, section 7.3); no
 * fragment, no user information, and nothing that browsers correct silently, such as a backslash.
 */
export function isRedirectUri(text: string): boolean {
  const url = URI.test(text) ? parseUrl(text) : undefined;
  if (!url) return false;
  const authority = /^https?:\/\/([^/?]+)/i.exec(text)?.[1];
  if (authority === undefined || authority.includes('@') || !HOST.test(url.hostname)) return false;
  return isSecureOrLocal(url);
}

/** Whether a redirect URI is one of an application on the person's own device, which listens on loopback. */
export function isLoopbackRedirect(text: string): boolean {
  return isRedirectUri(text) && new URL(text).protocol === 'http:';
}

/**
 * Whether a client may have people sent to an address: one that it registered, letter by letter. A public client on
 * loopback may listen on any port, as the operating system gives it one when it starts (RFC 8252, section 7.3).
 */
export function isRegisteredRedirect(
  client: { redirect_uris: readonly string[]; token_endpoint_auth_method: ClientAuthMethod },
  text: string,
): boolean {
  if (client.redirect_uris.includes(text)) return true;
  if (client.token_endpoint_auth_method !== 'none' || !isLoopbackRedirect(text)) return false;
  return client.redirect_uris.some(
    (known) => isLoopbackRedirect(known) && withoutPort(known) === withoutPort(text),
  );
}

function withoutPort(text: string): string {
  const url = new URL(text);
  url.port = '';
  return url.href;
}
