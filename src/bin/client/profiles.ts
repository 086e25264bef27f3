import { readFile } from 'node:fs/promises';
import { CommandError, type Values } from '../command.js';
import { namedConnection } from './connection.js';
import { keepPrivately, userFile } from './login/store.js';
import { print, printJson, table } from './terminal.js';

/** A server, and how to act there. */
export interface Profile {
  url: string;
  api_key: string;
  /** The account that a platform's key acts for. */
  account?: string;
}

/** What is kept of them. */
interface Profiles {
  /** Used by commands that name none. */
  current?: string;
  profiles: Record<string, Profile>;
}

const NAME = /^[\w.-]{1,64}$/;
const file = () => userFile('profiles.json');

/** Lists profiles, keeps one, chooses the one that commands use, or forgets one. */
export async function profiles(values: Values, [action = 'list', name = '']: string[]): Promise<void> {
  const known = await readProfiles();
  switch (action) {
    case 'list':
      return list(known, values);
    case 'save': {
      if (!NAME.test(name)) throw new CommandError('Name the profile: hookline profiles save staging');
      known.profiles[name] = namedConnection();
      await keep({ current: name, ...known });
      return print(`Kept as ${name} in ${file()}.`);
    }
    case 'use':
      profileNamed(known, name);
      await keep({ ...known, current: name });
      return print(`Commands use ${name} from now on.`);
    case 'remove': {
      profileNamed(known, name);
      const { [name]: _, ...others } = known.profiles;
      const { current, ...rest } = known;
      await keep({
        ...rest,
        ...(current !== undefined && current !== name && { current }),
        profiles: others,
      });
      return print(`Forgotten: ${name}. Its key is still valid.`);
    }
    default:
      throw new CommandError(`"${action}" is not one of: list, save, use, remove.`);
  }
}

function list({ current, profiles: all }: Profiles, { json }: Values): void {
  const rows = Object.entries(all).map(([name, { url, account }]) => ({
    name,
    url,
    account,
    current: name === current,
  }));
  if (json === true) for (const row of rows) printJson(row);
  else if (rows.length === 0) print('No profiles.');
  else
    print(
      table(
        ['', 'PROFILE', 'SERVER', 'ACCOUNT'],
        rows.map((row) => [row.current ? '*' : '', row.name, row.url, row.account ?? '']),
      ),
    );
}

/**
 * The profile that a command uses: the named one, or the chosen one.
 *
 * @param named by `HOOKLINE_PROFILE`
 * @param url if given, the chosen one counts only if it is at this server
 * @throws CommandError if there is none of that name
 */
export async function chosenProfile(
  named: string | undefined,
  url: string | undefined,
): Promise<Profile | undefined> {
  const known = await readProfiles();
  if (named) return profileNamed(known, named);
  const chosen = known.current === undefined ? undefined : known.profiles[known.current];
  return url === undefined || chosen?.url === url ? chosen : undefined;
}

function profileNamed({ profiles: all }: Profiles, name: string): Profile {
  const found = Object.hasOwn(all, name) ? all[name] : undefined;
  if (found) return found;
  const names = Object.keys(all).join(', ') || 'none';
  throw new CommandError(`There is no profile "${name}". There are: ${names}.`);
}

async function readProfiles(): Promise<Profiles> {
  const text = await readFile(file(), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{"profiles":{}}';
    throw error;
  });
  try {
    return JSON.parse(text) as Profiles;
  } catch {
    throw new CommandError(`${file()} is not valid JSON: mend or remove it.`);
  }
}

const keep = (all: Profiles) => keepPrivately(file(), all);
