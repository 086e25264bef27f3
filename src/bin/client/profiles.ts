import { CommandError, type Values } from '../command.js';
import { namedConnection } from './connection.js';
import { showList } from './listing.js';
import { keepProfiles, type Profiles, profileNamed, profilesFile, readProfiles } from './login/profiles.js';
import { print } from './terminal.js';

const NAME = /^[\w.-]{1,64}$/;

/** Lists profiles, keeps one, chooses the one that commands use, or forgets one. */
export async function profiles(values: Values, [action = 'list', name = '']: string[]): Promise<void> {
  const known = await readProfiles();
  switch (action) {
    case 'list':
      return list(known, values);
    case 'save': {
      if (!NAME.test(name)) throw new CommandError('Name the profile: hookline profiles save staging');
      known.profiles[name] = namedConnection();
      await keepProfiles({ current: name, ...known });
      return print(`Kept as ${name} in ${profilesFile()}.`);
    }
    case 'use':
      profileNamed(known, name);
      await keepProfiles({ ...known, current: name });
      return print(`Commands use ${name} from now on.`);
    case 'remove': {
      profileNamed(known, name);
      const { [name]: _, ...others } = known.profiles;
      const { current, ...rest } = known;
      await keepProfiles({
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

function list({ current, profiles: all }: Profiles, values: Values): Promise<void> {
  const rows = Object.entries(all).map(([name, { url, account }]) => ({
    ...{ name, url, account, current: name === current },
  }));
  return showList(rows, values, {
    none: 'No profiles.',
    header: ['', 'PROFILE', 'SERVER', 'ACCOUNT'],
    cells: (row) => [row.current ? '*' : '', row.name, row.url, row.account ?? ''],
  });
}
