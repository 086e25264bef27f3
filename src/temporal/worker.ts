import { Worker } from '@temporalio/worker';
import { type ActivityDependencies, createActivities } from '../../activities/index.js';
import type { TemporalConnection } from './connection.js';

export interface WorkerSettings {
  namespace: string;
  task_queue: string;
  /** The workflows' code, bundled ahead of time. */
  bundle_path: string;
  /** For attempts under way when the worker is told to stop, milliseconds. */
  shutdown_grace_ms: number;
}

/** A worker, running. */
export interface RunningWorker {
  /** Whether it polls. */
  isRunning(): boolean;
  /** Rejects where the worker fails; resolves once it has stopped. */
  done: Promise<void>;
  /** Takes no more work, finishes what is under way, and stops. */
  stop(): Promise<void>;
}

/**
 * Workflow tasks under way at once. Each first attempt holds one while it waits for its endpoint, so this bounds the attempts in
 * flight of this process.
 */
const WORKFLOW_TASK_SLOTS = 200;
const ACTIVITY_SLOTS = 200;
/** Waiting deliveries kept in memory; others are replayed from their history when they wake. About 1 GB at most. */
const CACHED_WORKFLOWS = 600;

/** Starts a worker for everything Hookline runs in Temporal, on the client's own connection. */
export async function startWorker(
  connection: TemporalConnection,
  settings: WorkerSettings,
  dependencies: ActivityDependencies,
): Promise<RunningWorker> {
  const worker = await Worker.create({
    connection: connection.native,
    namespace: settings.namespace,
    taskQueue: settings.task_queue,
    workflowBundle: { codePath: settings.bundle_path },
    activities: createActivities(dependencies),
    maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASK_SLOTS,
    maxConcurrentLocalActivityExecutions: WORKFLOW_TASK_SLOTS,
    maxConcurrentActivityTaskExecutions: ACTIVITY_SLOTS,
    maxCachedWorkflows: CACHED_WORKFLOWS,
    shutdownGraceTime: settings.shutdown_grace_ms,
  });
  const done = worker.run();
  return {
    isRunning: () => worker.getState() === 'RUNNING',
    done,
    async stop() {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await done;
    },
  };
}
