import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { BenchAccount, BenchServers } from '../support/system.js';
import type { Customer } from './bystander-process.js';
import type { Travel } from './travel.js';

/**
 * A customer with little traffic and an endpoint that is healthy. It is a process of its own: in that of another customer, its events would
 * wait for that one's as well.
 */
export interface Bystander {
  /** Sends events at a steady rate while something else goes on, and says how long they took. */
  travel(meanwhile: Promise<unknown>): Promise<Travel>;
  stop(): Promise<void>;
}

export async function startBystander(
  { temporalAddress, namespace }: BenchServers,
  account: BenchAccount,
): Promise<Bystander> {
  const { url, key } = account;
  const customer: Customer = { temporalAddress, namespace, url, key };
  const child = fork(fileURLToPath(new URL('bystander-process.js', import.meta.url)), [
    JSON.stringify(customer),
  ]);
  const exited = once(child, 'exit');
  const ended = exited.then(() => Promise.reject(new Error('the bystander ended')));
  ended.catch(() => {});
  const told = async <T>() => ((await Promise.race([once(child, 'message'), ended])) as [T])[0];
  await account.register(await told<string>());
  return {
    async travel(meanwhile) {
      child.send('begin');
      const travelled = told<Travel>();
      await meanwhile;
      child.send('end');
      return travelled;
    },
    async stop() {
      child.kill();
      await exited;
    },
  };
}
