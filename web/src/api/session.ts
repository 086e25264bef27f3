import { forgetEndedLink } from './ended-link.js';

/**
 * Role in which the application acts. A portal session and an operator's session can be open in one tab: each role has
 * its own.
 */
export type Role = 'portal' | 'desk';

export const ROLES: readonly Role[] = ['portal', 'desk'];

export interface Session {
  /** An API key, a portal token or an OAuth access token. */
  token: string;
  /** Given by OAuth: gets the next access token. */
  refreshToken?: string;
  /** The OAuth client that the tokens were issued to. */
  clientId?: string;
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

/** Time for which a session is kept in the browser, if its token does not end before: a working day. Milliseconds. */
const KEPT_MS = 12 * 3_600_000;

/** Stored session, and until when it counts, milliseconds since the epoch. */
interface Stored {
  session: Session;
  until: number;
}

/**
 * The session of a role, as the tabs of this browser share it; the same object until it changes, as React asks of a
 * store. Each address names its account, so tabs that look at different ones do not get into each other's way.
 */
export function readSession(role: Role): Session | undefined {
  const text = localStorage.getItem(nameOf(role)) ?? undefined;
  const known = read.get(role);
  const stored = known?.text === text ? known?.stored : parse(text);
  if (known?.text !== text) read.set(role, { text, stored });
  return stored !== undefined && stored.until > Date.now() ? stored.session : undefined;
}
const read = new Map<Role, { text: string | undefined; stored: Stored | undefined }>();

function parse(text: string | undefined): Stored | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as Stored);
}

/** Begins, changes or (without a session) ends the session of a role. */
export function writeSession(role: Role, session: Session | undefined): void {
  const until = Date.now() + KEPT_MS;
  if (session && role === 'portal') forgetEndedLink();
  if (session) localStorage.setItem(nameOf(role), JSON.stringify({ session, until } satisfies Stored));
  else localStorage.removeItem(nameOf(role));
  tell(session === undefined);
}

function tell(ended: boolean): void {
  for (const listener of listeners) listener(ended);
}

// Another tab has signed in or out. The present person must not see data that was read for somebody else.
addEventListener('storage', ({ key }) => {
  if (key === null || ROLES.some((role) => key === nameOf(role))) tell(true);
});

/** Calls back at each change of a session, and says whether it has ended. */
export function subscribe(listener: (ended: boolean) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
