import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** What a killed process left behind is removed once it is this old, and certainly no longer in use. */
const LEFTOVER_AGE_MS = 24 * 3_600_000;

/**
 * Gives work a folder of its own inside another one, and removes it afterwards, whatever came of it. What is to be kept is renamed out of
 * it at the end, so that work that is interrupted, or done twice at once, does no harm.
 */
export async function inScratch<T>(folder: string, work: (scratch: string) => Promise<T>): Promise<T> {
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
