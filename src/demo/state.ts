import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Where the demo's subscriber is registered. */
export interface DemoRegistration {
  subscriber_port: number;
  endpoint_id: string;
  secret: string;
}

/** State of the demo between starts: that, and its own account's key. */
export interface DemoState extends DemoRegistration {
  account_id: string;
  api_key: string;
  api_url: string;
  temporal_ui_url: string | undefined;
}

const fileIn = (dataDir: string) => join(dataDir, 'demo', 'state.json');

/** State that an earlier start left; `undefined` where there was none. */
export async function readDemoState(dataDir: string): Promise<DemoState | undefined> {
  try {
    return JSON.parse(await readFile(fileIn(dataDir), 'utf8')) as DemoState;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Keeps it, readable by its owner alone: there is a key in it. */
export async function writeDemoState(dataDir: string, state: DemoState): Promise<void> {
  const file = fileIn(dataDir);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.new`, JSON.stringify(state, null, 2), { mode: 0o600 });
  await rename(`${file}.new`, file);
}
