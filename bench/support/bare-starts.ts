import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { connectTemporal } from '../../src/temporal/server/connection.js';
import type { BenchServers } from './system.js';

/**
 * Starts workflows of a task queue that no worker polls, at a steady rate: what one write to Temporal takes while something else goes on.
 *
 * @returns how long each took, milliseconds
 */
export async function startSteadily(
  { temporalAddress: address, namespace }: BenchServers,
  perSecond: number,
  seconds: number,
): Promise<number[]> {
  const { client, close } = await connectTemporal({ address, namespace });
  const start = async () => {
    const began = performance.now();
    await client.workflow.start('nobody', { taskQueue: 'nobody', workflowId: randomUUID() });
    return performance.now() - began;
  };
  await start();
  const starting: Promise<number>[] = [];
  for (let index = 0; index < perSecond * seconds; index += 1) {
    starting.push(start());
    await delay(1_000 / perSecond);
  }
  const times = await Promise.all(starting);
  await close();
  return times;
}
