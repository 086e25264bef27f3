import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { ServerName } from '../../support/system.js';
import { until } from '../../support/until.js';
import type { World } from '../world/world.js';

/**
 * How long a server that was told to stop may take, and how often one that was killed is tried to be started again.
 * Milliseconds.
 */
const STOP_LIMIT_MS = 30_000;
const START_EVERY_MS = 500;
const START_LIMIT_MS = 60_000;
/**
 * A file may have this size and no more while its disk is full, bytes: less than any database that has begun to work.
 */
const FULL_BYTES = 4_096;

/** Kills a server, or tells it to stop, and starts it again. */
export async function restartServer(
  { servers }: World,
  server: ServerName,
  signal: 'SIGKILL' | 'SIGTERM',
  goneMs: number,
): Promise<void> {
  await servers.signal(server, signal);
  // Its port is free when it is gone.
  await until(
    () =>
      servers.signal(server, 'SIGCONT').then(
        () => false,
        () => true,
      ),
    STOP_LIMIT_MS,
    50,
  );
  await delay(goneMs);
  const deadline = performance.now() + START_LIMIT_MS;
  for (;;) {
    try {
      return await servers.restart(server);
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await delay(START_EVERY_MS);
    }
  }
}

export async function freezeServer({ servers }: World, server: ServerName, forMs: number): Promise<void> {
  await servers.signal(server, 'SIGSTOP');
  await delay(forMs);
  await servers.signal(server, 'SIGCONT');
}

/** Whether this machine can limit the files of a running process (prlimit of util-linux). */
export const canFillDisks = ['/usr/bin/prlimit', '/bin/prlimit'].some((path) => existsSync(path));

/**
 * Lets no file of a server grow, as if its disk were full: every write beyond the beginning of a file fails. A server
 * that ends by it is started again.
 */
export async function fillDisk(world: World, server: ServerName, forMs: number): Promise<void> {
  const { servers } = world;
  const pid = await servers.pid(server);
  if (pid === undefined) return;
  const limit = (size: string) =>
    promisify(execFile)('prlimit', ['--pid', String(pid), `--fsize=${size}:`]).catch(() => {});
  await limit(String(FULL_BYTES));
  await delay(forMs);
  await limit('unlimited');
  if ((await servers.pid(server)) === undefined) await servers.restart(server);
}
