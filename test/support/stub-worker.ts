import { Worker } from '@temporalio/worker';
import type { Activities } from '../../activities/index.js';
import { isolatedQueue } from '../../src/domain/delivery/lanes.js';
import { BUNDLE_PATH } from '../../src/temporal/server/bundle.js';
import type { TemporalConnection } from '../../src/temporal/server/connection.js';
import { workflowSinks } from '../../src/temporal/server/sinks.js';
import { servers } from './servers.js';

/**
 * Runs the real workflows over activities of a test's own, for faults that cannot be made otherwise.
 *
 * @returns stops the worker
 */
export async function startStubWorker(
  temporal: TemporalConnection,
  taskQueue: string,
  activities: Partial<Activities>,
): Promise<() => Promise<void>> {
  const common = { connection: temporal.native, namespace: servers().namespace, activities };
  const sinks = workflowSinks(() => {});
  const workers = [
    await Worker.create({ ...common, taskQueue, workflowBundle: { codePath: BUNDLE_PATH }, sinks }),
    await Worker.create({ ...common, taskQueue: isolatedQueue(taskQueue) }),
  ];
  const done = Promise.all(workers.map((worker) => worker.run()));
  return async () => {
    for (const worker of workers) worker.shutdown();
    await done;
  };
}
