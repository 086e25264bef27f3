/** Outcome of a link's token: it is ignored, it is taken, or the person is asked first. */
export type LinkOutcome = 'ignored' | 'taken' | 'asked about';

/** Form of a portal token: no link signs anybody in with another kind. */
const PORTAL_TOKEN = /^hlps_[\w-]{49}$/;
const CLIENT = /^client_\w+$/;

/** Outcome of opening a link with a token. @param current the token of who is signed in there, if anybody is */
export function outcomeOfToken(
  token: string,
  role: 'portal' | 'desk',
  current: string | undefined,
): LinkOutcome {
  if (role !== 'portal' || !PORTAL_TOKEN.test(token) || token === current) return 'ignored';
  return current === undefined ? 'taken' : 'asked about';
}

/**
 * Outcome of opening a link with a client, through which people log in. @param known the one that is remembered; '' for
 * none
 */
export function outcomeOfClient(client: string, known: string, isSignedIn: boolean): LinkOutcome {
  if (!CLIENT.test(client) || client === known) return 'ignored';
  return known === '' && !isSignedIn ? 'taken' : 'asked about';
}
