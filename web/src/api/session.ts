/** Who the application acts as. A portal session and an operator's session can be open in one tab: each role has its own. */
export type Role = 'portal' | 'desk';

export const ROLES: readonly Role[] = ['portal', 'desk'];

export interface Session {
  /** An API key, a portal token or an OAuth access token. It stays in this tab: `sessionStorage` is not shared, and ends with it. */
  token: string;
  /** Given by OAuth: gets the next access token. */
  refreshToken?: string;
  /** The OAuth client that the tokens were issued to. */
  clientId?: string;
  /** The account that a platform or an operator acts for: header `Hookline-Account`. */
  account?: string;
}

/** The address of the service: this file is at `<address>/web/assets/…`, or at `/src/api/…` of Vite's own server. */
export const BASE_PATH = import.meta.env.DEV
  ? ''
  : new URL(/* @vite-ignore */ '../..', import.meta.url).pathname.replace(/\/$/, '');

/** The role that the address names. */
export function currentRole(): Role {
  return location.pathname.slice(BASE_PATH.length).startsWith('/desk') ? 'desk' : 'portal';
}

const listeners = new Set<(ended: boolean) => void>();
const nameOf = (role: Role) => `hookline.${role}`;

/** The session of a role, as stored; the same object until it changes, as React asks of a store. */
export function readSession(role: Role): Session | undefined {
  const text = sessionStorage.getItem(nameOf(role)) ?? undefined;
  const known = read.get(role);
  if (known?.text === text) return known?.session;
  const session = text === undefined ? undefined : (JSON.parse(text) as Session);
  read.set(role, { text, session });
  return session;
}
const read = new Map<Role, { text: string | undefined; session: Session | undefined }>();

/** Begins, changes or (without a session) ends the session of a role. */
export function writeSession(role: Role, session: Session | undefined): void {
  if (session) sessionStorage.setItem(nameOf(role), JSON.stringify(session));
  else sessionStorage.removeItem(nameOf(role));
  for (const listener of listeners) listener(session === undefined);
}

/** Calls back at each change of a session, and says whether it has ended. */
export function subscribe(listener: (ended: boolean) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
