import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { BenchAccount } from '../support/system.js';

/** Input of the healthy tenant when it begins. */
export type Tenant = Pick<BenchAccount, 'url' | 'key'>;

/** Durations that it saw in some time, milliseconds each. */
export interface Seen {
  /** From a post of a tiny event to its 202. */
  acceptMs: number[];
  /** From the same to its arrival at the endpoint, on a new connection. */
  arriveMs: number[];
  /** Durations of `/healthz`. */
  healthMs: number[];
  /** Other answers, lost connections, and what did not arrive. */
  errors: Record<string, number>;
}

/**
 * A tenant with little traffic and an endpoint that is healthy, in a process of its own: nothing of an attack is in its
 * way but the service.
 */
export interface HealthyTenant {
  /** Durations that it sees for so many seconds. */
  watch(seconds: number): Promise<Seen>;
  stop(): Promise<void>;
}

export async function startTenant(account: BenchAccount, host = '127.0.0.1'): Promise<HealthyTenant> {
  const { url, key } = account;
  const child = fork(fileURLToPath(new URL('tenant-process.js', import.meta.url)), [
    JSON.stringify({ url, key }),
  ]);
  const exited = once(child, 'exit');
  const ended = exited.then(() => Promise.reject(new Error('the healthy tenant ended')));
  ended.catch(() => {});
  const told = async <T>() => ((await Promise.race([once(child, 'message'), ended])) as [T])[0];
  const port = await told<number>();
  await account.register(`http://${host}:${port}/`);
  return {
    async watch(seconds) {
      child.send('begin');
      const seen = told<Seen>();
      await delay(seconds * 1_000);
      child.send('end');
      return seen;
    },
    async stop() {
      child.kill();
      await exited;
    },
  };
}
