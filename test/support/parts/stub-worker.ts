import { Worker, type WorkerOptions } from '@temporalio/worker';
import type { Activities } from '../../../activities/index.js';
import { isolatedQueue } from '../../../src/domain/delivery/lanes.js';
import { BUNDLE_PATH } from '../../../src/temporal/server/bundle.js';
import type { TemporalConnection } from '../../../src/temporal/server/connection.js';
import { workflowSinks } from '../../../src/temporal/server/sinks.js';
import { servers } from '../servers.js';

type Stop = () => Promise<void>;

/**
 * Runs the real workflows over activities of a test's own, for faults that cannot be made otherwise. No rows are kept,
 * unless these do it.
 *
 * @returns stops the worker
 */
export async function startStubWorker(
  temporal: TemporalConnection,
  taskQueue: string,
  activities: Partial<Activities>,
): Promise<Stop> {
  const stops = [
    await startStubWorkflows(temporal, taskQueue, activities),
    await startStubAttempts(temporal, taskQueue, activities),
  ];
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}

/** The part of {@link startStubWorker} that runs workflows and their local activities. @returns stops it */
export function startStubWorkflows(
  temporal: TemporalConnection,
  taskQueue: string,
  activities: Partial<Activities>,
): Promise<Stop> {
  const sinks = workflowSinks(() => {});
  return run(temporal, { taskQueue, activities, workflowBundle: { codePath: BUNDLE_PATH }, sinks });
}

/** The part of {@link startStubWorker} that makes attempts in the isolated lane. @returns stops it */
export function startStubAttempts(
  temporal: TemporalConnection,
  taskQueue: string,
  activities: Partial<Activities>,
): Promise<Stop> {
  return run(temporal, { taskQueue: isolatedQueue(taskQueue), activities });
}

async function run(
  { native: connection }: TemporalConnection,
  options: Omit<WorkerOptions, 'connection' | 'namespace'>,
): Promise<Stop> {
  const { namespace } = servers();
  const activities = { keepRows: async () => true, ...options.activities };
  const worker = await Worker.create({ ...options, activities, connection, namespace });
  const done = worker.run();
  return async () => {
    worker.shutdown();
    await done;
  };
}
