import { BASE_PATH, type Role, readSession, type Session, writeSession } from './session.js';

/**
 * Scopes that a login requests, by role. The client must be registered for all of it; what the person's own login lacks
 * is left out by the server, and the pages do without.
 */
const SCOPES: Record<Role, string> = {
  portal: 'deliveries:read deliveries:write endpoints:read endpoints:write secrets:read',
  desk: 'deliveries:read deliveries:write endpoints:read endpoints:write secrets:read changes:read keys:read keys:write subjects:write admin',
};

/** State that is kept while the person is at the login's pages. */
type Pending = {
  role: Role;
  /** Where the person wanted to go. */
  returnTo: string;
} & ({ clientId: string; state: string; verifier: string } | { signIn: string });
const PENDING = 'hookline.login';

const CLIENT = 'hookline.client';

/**
 * The OAuth client that people of this browser log in through: named by a link, such as `/portal?client=client_…`, or
 * typed once.
 */
export function knownClient(): string {
  return localStorage.getItem(CLIENT) ?? '';
}

/** Remembers the client for the next login. */
export function rememberClient(client: string): void {
  localStorage.setItem(CLIENT, client);
}

/** Where the server sends people back to. An operator registers it with the client. */
export const redirectUri = (role: Role) => `${location.origin}${BASE_PATH}/${role}/signed-in`;

/** Begins a login: authorization code with PKCE (RFC 7636). The browser leaves this page. */
export async function beginLogin(role: Role, clientId: string): Promise<void> {
  rememberClient(clientId);
  const verifier = randomText();
  const state = randomText();
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  const pending: Pending = { role, clientId, state, verifier, returnTo: location.pathname + location.search };
  sessionStorage.setItem(PENDING, JSON.stringify(pending));
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri(role),
    scope: SCOPES[role],
    state,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
  });
  location.assign(`${BASE_PATH}/oauth/authorize?${query}`);
}

/**
 * Begins single sign-on to the desk: the service says where, and keeps nothing; its sealed secrets stay in this tab.
 *
 * @throws Error that says why it failed
 */
export async function beginSingleSignOn(): Promise<void> {
  const { url, sign_in } = await post('/sign_in/openid');
  const pending: Pending = {
    role: 'desk',
    signIn: String(sign_in),
    returnTo: location.pathname + location.search,
  };
  sessionStorage.setItem(PENDING, JSON.stringify(pending));
  location.assign(String(url));
}

/** @throws Error with the problem that is answered */
async function post(path: string, body: object = {}): Promise<Record<string, unknown>> {
  const response = await fetch(BASE_PATH + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  if (!response.ok) throw new Error(String(answer['detail'] ?? 'The service cannot be reached. Try again.'));
  return answer;
}

/**
 * Ends a login whose answer is in the address.
 *
 * @returns where the person wanted to go
 * @throws Error that says why it failed
 */
export async function finishLogin(): Promise<string> {
  const answer = new URLSearchParams(location.search);
  const text = sessionStorage.getItem(PENDING);
  sessionStorage.removeItem(PENDING);
  if (text === null) throw new Error('This login was not begun in this tab. Sign in again.');
  const pending = JSON.parse(text) as Pending;
  if ('signIn' in pending) {
    const { token } = await post('/sign_in/openid/response', {
      sign_in: pending.signIn,
      response: location.search.slice(1),
    });
    writeSession(pending.role, { token: String(token) });
    return pending.returnTo;
  }
  const error = answer.get('error');
  if (error !== null) throw new Error(answer.get('error_description') ?? `The login was refused (${error}).`);
  const code = answer.get('code');
  if (code === null || answer.get('state') !== pending.state)
    throw new Error('The response does not belong to this login. Sign in again.');
  const session = await requestTokens(pending.clientId, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri(pending.role),
    code_verifier: pending.verifier,
  });
  if (!session) throw new Error('The login took too long, or was used before. Sign in again.');
  writeSession(pending.role, session);
  return pending.returnTo;
}

let renewal: Promise<Session | undefined> | undefined;

/**
 * The session with a new access token, if OAuth gave the old one. A refresh token works once, so one request renews for
 * all, also for other tabs where the browser has locks.
 *
 * @param refused the session whose token was refused
 */
export function renewSession(role: Role, refused: Session): Promise<Session | undefined> {
  renewal ??= inTurn(() => renew(role, refused)).finally(() => {
    renewal = undefined;
  });
  return renewal;
}

async function renew(role: Role, refused: Session): Promise<Session | undefined> {
  const session = readSession(role);
  if (session && session.token !== refused.token) return session;
  if (!session?.refreshToken || !session.clientId) return undefined;
  const renewed = await requestTokens(session.clientId, {
    grant_type: 'refresh_token',
    refresh_token: session.refreshToken,
  });
  if (!renewed) return undefined;
  const next = { ...session, ...renewed };
  writeSession(role, next);
  return next;
}

/** Browsers have no locks on a page without HTTPS that is not of this machine. */
async function inTurn<T>(act: () => Promise<T>): Promise<T> {
  return navigator.locks === undefined ? act() : navigator.locks.request('hookline.renewal', act);
}

async function requestTokens(clientId: string, form: Record<string, string>): Promise<Session | undefined> {
  const response = await fetch(`${BASE_PATH}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: clientId, ...form }),
  }).catch(() => undefined);
  if (!response?.ok) return undefined;
  const { access_token, refresh_token } = (await response.json()) as Record<string, string | undefined>;
  if (access_token === undefined) return undefined;
  return {
    token: access_token,
    clientId,
    ...(refresh_token !== undefined && { refreshToken: refresh_token }),
  };
}

function randomText(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
