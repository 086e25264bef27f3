import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { BenchAccount, BenchServers } from '../support/system.js';
import type { Customer } from './bystander-process.js';
import type { Travel } from './travel.js';

/**
 * A customer with little traffic and an endpoint that is healthy. It is a process of its own: in that of another
 * customer, its events would wait for that one's as well.
 */
export interface Bystander {
  /**
   * Sends events at a steady rate, begins something else soon after, and says how long those took that were sent while
   * that went on.
   */
  travel<T>(meanwhile: () => Promise<T>): Promise<{ travelled: Travel; result: T }>;
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
      await told<'on its way'>();
      const result = await meanwhile();
      child.send('end');
      return { travelled: await told<Travel>(), result };
    },
    async stop() {
      child.kill();
      await exited;
    },
  };
}
