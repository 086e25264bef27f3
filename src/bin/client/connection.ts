import { Hookline } from '../../../clients/typescript/src/index.js';
import { CommandError } from '../command.js';
import { boundedRequest } from '../process/bounded-fetch.js';
import { note } from './terminal.js';

/** Where the server is, and how a command proves who it is. */
export interface Connection {
  url: string;
  token: () => Promise<string>;
  /** The account that a platform's key acts for. */
  account?: string;
}

/**
 * The server and key that a command uses: of the profile that `HOOKLINE_PROFILE` names; of `HOOKLINE_URL` and
 * `HOOKLINE_API_KEY`; of `hookline dev` in this folder; of the chosen profile; of the login that is kept. Without a
 * key, `HOOKLINE_URL` leaves those at that server. `HOOKLINE_ACCOUNT` is the account that a platform's key acts for.
 * Settings that are given but not used are reported on standard error.
 *
 * @throws CommandError that says what to set
 */
export async function connection(): Promise<Connection> {
  const { HOOKLINE_API_KEY: key, HOOKLINE_ACCOUNT: account, HOOKLINE_PROFILE: profileName } = process.env;
  const named = process.env['HOOKLINE_URL'] || undefined;
  const url = named && checkUrl(named);
  const acting = account ? { account } : {};
  const using = ({ api_key, ...kept }: Named): Connection => ({
    ...kept,
    token: async () => api_key,
    ...acting,
  });
  if (key && !profileName) return using({ url: url ?? DEFAULT_URL, api_key: key });
  const [{ readLogin }, { tokenOf }, { profileNamed, readProfiles }] = await Promise.all([
    import('./login/store.js'),
    import('./login/tokens.js'),
    import('./login/profiles.js'),
  ]);
  const known = await readProfiles();
  if (profileName) {
    const profile = profileNamed(known, profileName);
    const unused = [key && 'HOOKLINE_API_KEY', url && url !== profile.url && 'HOOKLINE_URL'].filter(Boolean);
    if (unused.length > 0)
      note(`HOOKLINE_PROFILE names the profile ${profileName}; not used: ${unused.join(', ')}.`);
    return using(profile);
  }
  const isThere = (one: { url: string } | undefined) => one && (url === undefined || one.url === url);
  const chosen = known.current === undefined ? undefined : known.profiles[known.current];
  const ofFolder = await serverOfFolder();
  if (ofFolder && isThere(ofFolder)) {
    if (chosen && isThere(chosen) && chosen.url !== ofFolder.url)
      note(
        `The server of "hookline dev" in this folder is used. For the profile ${known.current}: HOOKLINE_PROFILE=${known.current}`,
      );
    return using(ofFolder);
  }
  if (chosen && isThere(chosen)) return using(chosen);
  const login = await readLogin(url);
  if (!login) {
    throw new CommandError(
      'Set HOOKLINE_API_KEY to an API key, and HOOKLINE_URL to the address of the server. Or log in: hookline login. Or keep several: hookline profiles --help',
    );
  }
  return { url: login.url, token: () => tokenOf(login), ...acting };
}

/** A server, and a key there. */
interface Named {
  url: string;
  api_key: string;
  account?: string;
}

/**
 * The server of `hookline dev` whose data folder is in this one, with the key that its first start made. Of this
 * machine alone: a folder of others leads nowhere else.
 */
async function serverOfFolder(): Promise<Named | undefined> {
  const { readDemoState } = await import('../../demo/state.js');
  const folder = process.env['HOOKLINE_DATA_DIR'] || DEFAULT_DATA_DIR;
  const { api_url, api_key } = (await readDemoState(folder).catch(() => undefined)) ?? {};
  if (!api_url || !api_key || !URL.canParse(api_url) || !LOOPBACK_HOSTS.has(new URL(api_url).hostname))
    return undefined;
  return { url: checkUrl(api_url), api_key };
}

/** Connection that a profile keeps, as it is set now. @throws CommandError that says what to set */
export function namedConnection(): Named {
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

/** URI of the database with an outbox. */
export const outboxUri = () => process.env['HOOKLINE_OUTBOX_URI'] || undefined;

/** Where `hookline dev` is, and its data folder, if no setting says otherwise. */
export const DEFAULT_URL = 'http://127.0.0.1:8080';
const DEFAULT_DATA_DIR = '.hookline';
const LOOPBACK_HOSTS = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** @throws CommandError */
export function checkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new CommandError(
      `HOOKLINE_URL must be an address such as https://hookline.example.com, not "${text}".`,
    );
  return url.href.replace(/\/+$/, '');
}
