import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endShared } from './at-end.js';
import { ask, neededHere, serveNeeds } from './needs.js';
import type { ServersOfRun } from './run-servers.js';
import type { TestServers } from './servers.js';
import { countIn, countProcessor } from './started.js';
import { forgetWarnings } from './warnings.js';

// Whatever costs is imported when it is needed: a file of pure rules is tested in a second.

/** In each process that runs tests; in those of a parallel run before and after each file. */
export const mochaHooks = {
  async beforeAll(this: Mocha.Context): Promise<void> {
    const needed = neededHere();
    if (needed.length === 0) return;
    // It says itself how it goes: the first build of a server takes minutes.
    this.timeout(0);
    const { installSdk } = await import('./sdk.js');
    installSdk();
    if (!needed.includes('servers')) return void (await ask('build'));
    const { setServers } = await import('./servers.js');
    setServers((await ask('servers')) as TestServers);
  },
  beforeEach: forgetWarnings,
  afterEach(this: Mocha.Context): void {
    countProcessor(this.currentTest?.file);
  },
  afterAll(): void {
    countProcessor();
  },
};

let folder: string | undefined;
let endNeeds: (() => void) | undefined;
let servers: Promise<ServersOfRun> | undefined;

/** Starts nothing: what tests need is made when the first of them asks. */
export async function mochaGlobalSetup(): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), 'hookline-run-'));
  countIn(join(folder, 'started'));
  endNeeds = await serveNeeds(join(folder, 'needs'), {
    async build() {
      const { buildOnce } = await import('./programs/build.js');
      await buildOnce();
    },
    async servers() {
      const { startServersOfRun } = await import('./run-servers.js');
      servers = startServersOfRun();
      return (await servers).servers;
    },
  });
}

export async function mochaGlobalTeardown(): Promise<void> {
  endNeeds?.();
  await endShared();
  const running = await servers?.catch(() => undefined);
  await running?.stop();
  if (!running && neededHere().length > 0) await (await import('./sdk.js')).endSdk();
  if (folder) await rm(folder, { recursive: true, force: true });
}
