import { readFile } from 'node:fs/promises';
import type { Seen, WitnessState } from '../../../packages/tlog/src/witness.js';
import { isObject } from '../../domain/basics/objects.js';
import { CommandError } from '../command.js';
import { replaceFile } from '../process/replace-file.js';

/** Checkpoints that a witness saw, in a file. */
export function stateIn(path: string): WitnessState {
  return {
    read: async () => JSON.parse(await readFile(path, 'utf8')) as Seen,
    write: (seen) => replaceFile(path, JSON.stringify(seen, null, 2)),
  };
}

/**
 * Makes the file of a new witness, or finds the one of another. One that has lost its file would cosign anything, so it
 * does not begin anew unless it is told to.
 *
 * @param isNew it has cosigned nothing yet
 * @throws CommandError if the file is not what it should be
 */
export async function prepareState(path: string, isNew: boolean): Promise<void> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (text === undefined) {
    if (!isNew)
      throw new CommandError(
        `${path} is not there. A witness that has lost what it saw needs a new key (hookline witness-key NAME). Say --new if this key has cosigned nothing yet.`,
      );
    return replaceFile(path, '{}');
  }
  if (isNew) throw new CommandError(`${path} is there already: this witness is not new. Leave out --new.`);
  if (!isSeen(text))
    throw new CommandError(`${path} is not what a witness keeps. Put back what it was, or make a new key.`);
}

function isSeen(text: string): boolean {
  try {
    const seen: unknown = JSON.parse(text);
    return isObject(seen) && Object.values(seen).every((note) => typeof note === 'string');
  } catch {
    return false;
  }
}
