import { randomUUID } from 'node:crypto';
import { connectTemporal } from '../../src/temporal/server/connection.js';
import { steadily } from '../support/load.js';
import type { BenchServers } from '../support/system.js';

/**
 * Starts workflows of a task queue that no worker polls, at a steady rate for so many seconds or until told to stop:
 * what one write to Temporal takes while something else goes on.
 *
 * @returns how long each took, milliseconds
 */
export async function startSteadily(
  { temporalAddress: address, namespace }: Pick<BenchServers, 'temporalAddress' | 'namespace'>,
  perSecond: number,
  until: number | AbortSignal,
): Promise<number[]> {
  const { client, close } = await connectTemporal({ address, namespace });
  const start = async () => {
    const began = performance.now();
    await client.workflow.start('nobody', { taskQueue: 'nobody', workflowId: randomUUID() });
    return performance.now() - began;
  };
  await start();
  const times = await steadily(perSecond, until, start);
  await close();
  return times;
}
