import { mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { replaceFile } from '../../process/replace-file.js';

/** A login of a person, as it is kept between commands. */
export interface KeptLogin {
  url: string;
  client_id: string;
  access_token: string;
  refresh_token?: string;
  /** Milliseconds since the epoch. */
  expires_at: number;
}

/** A lock that is older was left by a process that ended, milliseconds. */
const STALE_LOCK_MS = 15_000;
const LOCK_POLL_MS = 50;

/** A file of `hookline` in the user's folder for configuration (XDG Base Directory). */
export function userFile(name: string): string {
  const base = process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config');
  return join(base, 'hookline', name);
}

/** Where the login is kept. */
export const loginFile = () => userFile('login.json');

/**
 * Keeps something readable by its owner alone. A process that reads at the same time sees the old one or the new one.
 */
export async function keepPrivately(file: string, kept: object): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await replaceFile(file, `${JSON.stringify(kept, null, 2)}\n`, 0o600);
}

/** The login that is kept, if there is one. @param url if given, only a login at this server counts */
export async function readLogin(url?: string): Promise<KeptLogin | undefined> {
  try {
    const login = JSON.parse(await readFile(loginFile(), 'utf8')) as KeptLogin;
    return url === undefined || login.url === url ? login : undefined;
  } catch {
    return undefined;
  }
}

export const writeLogin = (login: KeptLogin) => keepPrivately(loginFile(), login);

export const removeLogin = () => rm(loginFile(), { force: true });

/** Does something while no other process of this user does it: a refresh token works once. */
export async function locked<T>(work: () => Promise<T>): Promise<T> {
  const file = `${loginFile()}.lock`;
  for (;;) {
    const handle = await open(file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return undefined;
      throw error;
    });
    if (handle) {
      await handle.close();
      break;
    }
    const made = await stat(file).catch(() => undefined);
    if (made && Date.now() - made.mtimeMs > STALE_LOCK_MS) await rm(file, { force: true });
    else await delay(LOCK_POLL_MS);
  }
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}
