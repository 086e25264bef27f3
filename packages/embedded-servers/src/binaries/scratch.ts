import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Report } from '../types.js';
import { isExecutable, type Way } from './find-binary.js';

/** Age at which folders of a killed process are removed: they are certainly no longer in use. */
const LEFTOVER_AGE_MS = 24 * 3_600_000;

type MadeWay = { file: string } & Omit<Way, 'kept' | 'make'> & Omit<NonNullable<Way['make']>, 'run'>;

/**
 * A program that is made once for this user, and kept as a file.
 *
 * @param make makes it in a folder of its own, and gives its path there
 */
export function madeWay(
  { file, doing, noun, impossible, ...way }: MadeWay,
  make: (scratch: string, report: Report, signal: AbortSignal | undefined) => Promise<string>,
): Way {
  return {
    ...way,
    kept: async () => ((await isExecutable(file)) ? file : undefined),
    make: {
      ...{ doing, noun, impossible },
      run: (report, signal) =>
        inScratch(dirname(file), async (scratch) => {
          await rename(await make(scratch, report, signal), file);
          return file;
        }),
    },
  };
}

/**
 * Gives work a folder of its own inside another one, and removes it afterwards, whatever came of it. The result is
 * renamed out of it at the end, so interrupted or simultaneous work does no harm.
 */
async function inScratch<T>(folder: string, work: (scratch: string) => Promise<T>): Promise<T> {
  await mkdir(folder, { recursive: true });
  await removeLeftovers(folder);
  const scratch = await mkdtemp(join(folder, 'unfinished-'));
  try {
    return await work(scratch);
  } finally {
    await removeTree(scratch);
  }
}

async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith('unfinished-')) continue;
    const path = join(folder, name);
    const age = Date.now() - ((await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now());
    if (age > LEFTOVER_AGE_MS) await removeTree(path);
  }
}

async function removeTree(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}
