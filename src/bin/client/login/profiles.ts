import { readFile } from 'node:fs/promises';
import { CommandError } from '../../command.js';
import { keepPrivately, userFile } from './store.js';

/** A server, and how to act there. */
export interface ServerProfile {
  url: string;
  api_key: string;
  /** The account that a platform's key acts for. */
  account?: string;
}

/** Stored profiles. */
export interface Profiles {
  /** Used by commands that name none. */
  current?: string;
  profiles: Record<string, ServerProfile>;
}

/** Where they are kept. */
export const profilesFile = () => userFile('profiles.json');

/** @throws CommandError if there is none of that name */
export function profileNamed({ profiles: all }: Profiles, name: string): ServerProfile {
  const found = Object.hasOwn(all, name) ? all[name] : undefined;
  if (found) return found;
  const names = Object.keys(all).join(', ') || 'none';
  throw new CommandError(`There is no profile "${name}". There are: ${names}.`);
}

/** Stored profiles. @throws CommandError if it cannot be read */
export async function readProfiles(): Promise<Profiles> {
  const text = await readFile(profilesFile(), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{"profiles":{}}';
    throw error;
  });
  try {
    return JSON.parse(text) as Profiles;
  } catch {
    throw new CommandError(`${profilesFile()} is not valid JSON: mend or remove it.`);
  }
}

/** Keeps them, readable by their owner alone. */
export const keepProfiles = (all: Profiles) => keepPrivately(profilesFile(), all);
