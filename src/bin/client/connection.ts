import { Hookline } from '../../../clients/typescript/src/index.js';
import { CommandError } from '../command.js';
import { boundedRequest } from '../process/bounded-fetch.js';

/** Where the server is, and how a command proves who it is. */
export interface Connection {
  url: string;
  token: () => Promise<string>;
  /** The account that a platform's key acts for. */
  account?: string;
}

/**
 * The server of `HOOKLINE_URL` with the key of `HOOKLINE_API_KEY`; without a key, the profile of `HOOKLINE_PROFILE` or
 * the chosen one, and then the login that is kept, at that server if one is named. `HOOKLINE_ACCOUNT` is the account
 * that a platform's key acts for.
 *
 * @throws CommandError that says what to set
 */
export async function connection(): Promise<Connection> {
  const { HOOKLINE_URL: named, HOOKLINE_API_KEY: key, HOOKLINE_ACCOUNT: account } = process.env;
  const acting = account ? { account } : {};
  if (key) return { url: checkUrl(named ?? DEFAULT_URL), token: async () => key, ...acting };
  const [{ readLogin }, { tokenOf }, { chosenProfile }] = await Promise.all([
    import('./login/store.js'),
    import('./login/tokens.js'),
    import('./login/profiles.js'),
  ]);
  const profile = await chosenProfile(process.env['HOOKLINE_PROFILE'], named ? checkUrl(named) : undefined);
  if (profile) {
    const { api_key, ...kept } = profile;
    return { ...kept, token: async () => api_key, ...acting };
  }
  const login = await readLogin(named && checkUrl(named));
  if (!login) {
    throw new CommandError(
      'Set HOOKLINE_API_KEY to an API key, and HOOKLINE_URL to the address of the server. Or log in: hookline login. Or keep several: hookline profiles --help',
    );
  }
  return { url: login.url, token: () => tokenOf(login), ...acting };
}

/** What a profile keeps, as it is set now. @throws CommandError that says what to set */
export function namedConnection(): { url: string; api_key: string; account?: string } {
  const {
    HOOKLINE_URL: url = DEFAULT_URL,
    HOOKLINE_API_KEY: api_key,
    HOOKLINE_ACCOUNT: account,
  } = process.env;
  if (!api_key)
    throw new CommandError('Set HOOKLINE_API_KEY, and HOOKLINE_URL, to what the profile should keep.');
  return { url: checkUrl(url), api_key, ...(account && { account }) };
}

/** A client of that server. @param to if it is known already */
export async function client(to?: Connection): Promise<Hookline> {
  return new Hookline({ ...(to ?? (await connection())), retry: { tries: 3 }, fetch: boundedRequest });
}

/** Where `hookline dev` is. */
export const DEFAULT_URL = 'http://127.0.0.1:8080';

/** @throws CommandError */
export function checkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new CommandError(
      `HOOKLINE_URL must be an address such as https://hookline.example.com, not "${text}".`,
    );
  return url.href.replace(/\/+$/, '');
}
