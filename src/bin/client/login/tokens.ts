import { UNITS } from '../../../domain/basics/duration.js';
import { CommandError } from '../../command.js';
import { type KeptLogin, locked, readLogin, removeLogin, writeLogin } from './store.js';

/** A token that ends sooner is replaced before it is used, milliseconds. */
const MARGIN_MS = UNITS.m;

/** The access token of a login, refreshed if it ends soon. @throws CommandError if the person has to log in again */
export async function tokenOf(login: KeptLogin): Promise<string> {
  const kept = (await readLogin(login.url)) ?? login;
  if (kept.expires_at - Date.now() > MARGIN_MS) return kept.access_token;
  return locked(async () => {
    // Another process may have been faster.
    const now = (await readLogin(login.url)) ?? kept;
    return now.expires_at - Date.now() > MARGIN_MS ? now.access_token : refresh(now);
  });
}

async function refresh(login: KeptLogin): Promise<string> {
  const again = new CommandError('The login has ended. Log in again with "hookline login".');
  if (login.refresh_token === undefined) throw again;
  const [oauth, { discover }] = await Promise.all([import('oauth4webapi'), import('./server.js')]);
  const { as, options, client, auth } = await discover(login);
  const response = await oauth.refreshTokenGrantRequest(as, client, auth, login.refresh_token, options);
  try {
    const tokens = await oauth.processRefreshTokenResponse(as, client, response);
    await writeLogin(loginFrom(tokens, login));
    return tokens.access_token;
  } catch (error) {
    if (!(error instanceof oauth.ResponseBodyError)) throw error;
    await removeLogin();
    throw again;
  }
}

/** Part of a response with tokens that is stored. */
export function loginFrom(
  tokens: { access_token: string; refresh_token?: string; expires_in?: number },
  { url, client_id }: Pick<KeptLogin, 'url' | 'client_id'>,
): KeptLogin {
  const { access_token, refresh_token, expires_in = 0 } = tokens;
  const expires_at = Date.now() + expires_in * 1000;
  return { url, client_id, access_token, expires_at, ...(refresh_token !== undefined && { refresh_token }) };
}
