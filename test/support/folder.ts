import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A folder of its own for each test of a suite, gone after it.
 *
 * @returns the path of something in it, without names its own
 */
export function folderOfEach(): (...names: string[]) => string {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hookline-test-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  return (...names) => join(folder, ...names);
}

/** Sets variables of the environment, or takes them away, for each test of a suite, after which they are as before. */
export function environmentOfEach(variables: () => Record<string, string | undefined>): void {
  let before: Record<string, string | undefined> = {};
  const set = (values: Record<string, string | undefined>) => {
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
  beforeEach(() => {
    const values = variables();
    before = Object.fromEntries(Object.keys(values).map((name) => [name, process.env[name]]));
    set(values);
  });
  afterEach(() => set(before));
}

/** Writes a file that can be run. */
export function writeProgram(path: string, text: string): Promise<void> {
  return writeFile(path, text, { mode: 0o755 });
}
