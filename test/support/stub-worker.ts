import { Worker } from '@temporalio/worker';
import type { Activities } from '../../activities/index.js';
import { BUNDLE_PATH } from '../../src/temporal/bundle.js';
import type { TemporalConnection } from '../../src/temporal/connection.js';
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
  const worker = await Worker.create({
    connection: temporal.native,
    namespace: servers().namespace,
    taskQueue,
    workflowBundle: { codePath: BUNDLE_PATH },
    activities,
  });
  const done = worker.run();
  return async () => {
    worker.shutdown();
    await done;
  };
}
