import { Worker } from '@temporalio/worker';
import type { ServiceHandler } from 'nexus-rpc';
import type { TemporalConnection } from './connection.js';

/** Operations of one task queue under way at once: each keeps an event in memory. */
const OPERATIONS_AT_ONCE = 50;

/** Workers that carry out Nexus operations. */
export interface NexusWorkers {
  /** Rejects if a worker fails. */
  done: Promise<void>;
  /** Stops taking operations, finishes those under way, and ends. */
  stop(): Promise<void>;
}

/** Starts a worker for each task queue, with the service that it has there. */
export async function startNexusWorkers(
  { native: connection }: TemporalConnection,
  namespace: string,
  services: ReadonlyMap<string, ServiceHandler>,
): Promise<NexusWorkers> {
  const workers = await Promise.all(
    [...services].map(([taskQueue, service]) =>
      Worker.create({
        ...{ connection, namespace, taskQueue },
        nexusServices: [service],
        maxConcurrentNexusTaskExecutions: OPERATIONS_AT_ONCE,
      }),
    ),
  );
  const done = Promise.all(workers.map((worker) => worker.run())).then(() => {});
  return {
    done,
    async stop() {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await done;
    },
  };
}
