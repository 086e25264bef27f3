import { Hookline, HooklineError, type Problem } from '../../../clients/typescript/src/index.js';
import { keepEndedLink } from './ended-link.js';
import { renewSession } from './oauth.js';
import { noteRateLimits } from './rate-limits.js';
import { actingAccount } from './scope.js';
import { BASE_PATH, currentRole, type Role, readSession, type Session, writeSession } from './session.js';

export { HooklineError };

/** The header that says for which account a platform or an operator acts. */
const ACCOUNT = 'hookline-account';

/** Headers of a request that acts for an account, whichever one acts for otherwise. */
export const actingFor = (account: string) => ({ [ACCOUNT]: account });

/** Headers of a request that is about accounts, and so made for oneself, whatever account one acts for. */
export const AT_HOME = actingFor('');

/**
 * Sends a request for the person who is signed in; once more with a new token if an OAuth access token has expired. A
 * session that is refused for good ends.
 */
async function send(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init);
  const role = currentRole();
  const session = readSession(role);
  const response = await fetchFor(request, session);
  if (response.status !== 401 || !session) return response;
  const renewed = await renewSession(role, session);
  if (renewed) return fetchFor(request, renewed);
  if (readSession(role)?.token !== session.token) return response;
  if (role === 'portal') await noteEnd(response.clone());
  writeSession(role, undefined);
  return response;
}

/** Remembers where a link came from that has ended, before the session does. */
async function noteEnd(refusal: Response): Promise<void> {
  const { portal } = (await refusal.json().catch(() => ({}))) as Partial<Problem>;
  if (portal) keepEndedLink(portal);
}

async function fetchFor(request: Request, session: Session | undefined): Promise<Response> {
  const sent = withSession(request, session);
  const response = await fetch(sent);
  if (session) noteRateLimits(session.token, sent.headers.get(ACCOUNT) ?? '', response.headers);
  return response;
}

function withSession(request: Request, session: Session | undefined): Request {
  const copy = request.clone();
  if (session) copy.headers.set('authorization', `Bearer ${session.token}`);
  const account = actingAccount();
  if (account !== undefined && !copy.headers.has(ACCOUNT)) copy.headers.set(ACCOUNT, account);
  return copy;
}

/** The public API of the server that this page came from. */
export const api = new Hookline({ url: location.origin + BASE_PATH, fetch: send });

/**
 * Signs out of this browser.
 *
 * @param everywhere whether the token is to stop working as well: that of a person who signs in again
 */
export function endSession(role: Role, everywhere: boolean): void {
  const token = readSession(role)?.token;
  writeSession(role, undefined);
  if (!everywhere || token === undefined) return;
  // It ends by itself if this is lost.
  void new Hookline({ url: location.origin + BASE_PATH, token }).delete('/v18.0/session').catch(() => {});
}

/** Holder of a token, whoever is signed in. @throws {HooklineError} if it is refused */
export function holderOf(token: string) {
  return new Hookline({ url: location.origin + BASE_PATH, token }).get('/v18.0/session');
}

/**
 * An answer that is read as it comes: it is neither held in memory nor asked for again by itself.
 *
 * @throws {HooklineError}
 */
export async function openStream(
  path: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const response = await send(location.origin + BASE_PATH + path, {
    headers: { accept: 'application/x-ndjson, application/json', ...headers },
    signal,
  });
  if (!response.ok || !response.body)
    throw new HooklineError(response, await response.json().catch(() => undefined));
  return response.body;
}

/** An answer as a text, byte for byte. @throws {HooklineError} */
export async function readText(path: string): Promise<string> {
  const response = await send(location.origin + BASE_PATH + path);
  if (!response.ok) throw new HooklineError(response, await response.json().catch(() => undefined));
  return response.text();
}

/** Every row of a list that is short: accounts have limits of endpoints and event kinds. */
export async function readAll<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const row of rows) all.push(row);
  return all;
}
