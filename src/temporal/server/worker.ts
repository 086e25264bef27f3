import type { Context as ActivityContext } from '@temporalio/activity';
import { type ActivityInterceptors, Worker, type WorkerOptions } from '@temporalio/worker';
import { type ActivityDependencies, createActivities } from '../../../activities/index.js';
import { isolatedQueue } from '../../domain/delivery/lanes.js';
import type { Closing } from '../../domain/stats/closing.js';
import { temporalClock } from '../../domain/time/shared-time.js';
import { namesFailures } from './activity-failures.js';
import type { TemporalConnection } from './connection.js';
import { workflowSinks } from './sinks.js';

export interface WorkerSettings {
  namespace: string;
  taskQueue: string;
  /** The workflows' code, bundled ahead of time. */
  bundlePath: string;
  /**
   * How long activities under way go on undisturbed when the worker is told to stop, milliseconds: the time for an
   * attempt. After that those that take long, such as the log's, are told to end.
   */
  shutdownGraceMs: number;
  /** Attempts of the isolated lane under way at once. */
  isolatedAttempts: number;
  /**
   * Which build of which deployment this is, where Temporal decides what builds get (Worker Versioning); absent: every
   * worker gets everything.
   */
  deployment: { name: string; buildId: string } | undefined;
  /** Is called with deliveries that have just been closed; after a crash, perhaps twice or not at all. */
  closed(closings: readonly Closing[]): void;
}

/** A running worker. */
export interface RunningWorker {
  /** Whether it polls. */
  isRunning(): boolean;
  /** Rejects if the worker fails; resolves once it has stopped. */
  done: Promise<void>;
  /** Stops taking work, finishes what is under way, and ends. */
  stop(): Promise<void>;
}

/** Each activity tells Temporal's time: it was scheduled a moment ago. */
function readsTime({ info }: ActivityContext): ActivityInterceptors {
  // Local activities are scheduled by this machine's clock.
  if (!info.isLocal) temporalClock.read(info.currentAttemptScheduledTimestampMs);
  return {};
}

/** Starts a worker for everything Hookline runs in Temporal, on the client's own connection. */
export async function startWorker(
  connection: TemporalConnection,
  settings: WorkerSettings,
  dependencies: ActivityDependencies,
): Promise<RunningWorker> {
  const activities = createActivities(dependencies);
  const { deployment } = settings;
  const common: Omit<WorkerOptions, 'taskQueue'> = {
    connection: connection.native,
    namespace: settings.namespace,
    interceptors: { activity: [readsTime, namesFailures] },
    shutdownGraceTime: settings.shutdownGraceMs,
    ...(deployment && {
      workerDeploymentOptions: {
        version: { deploymentName: deployment.name, buildId: deployment.buildId },
        useWorkerVersioning: true,
        // Workflows move to the build that is current: their code stays compatible by `patched()`, which a rollback
        // relies on, too.
        defaultVersioningBehavior: 'AUTO_UPGRADE',
      },
    }),
  };
  const main = await Worker.create({
    ...common,
    taskQueue: settings.taskQueue,
    workflowBundle: { codePath: settings.bundlePath },
    activities,
    sinks: workflowSinks(settings.closed),
    // A first attempt in the direct lane, or a group of them, holds a workflow task while it waits for its endpoint.
    // Endpoints that hang leave that lane after a second, and one endpoint has at most 100 attempts in it, so slots
    // remain for the others.
    maxConcurrentWorkflowTaskExecutions: 250,
    // Fewer than the workflow tasks, so that what waits for a slot here does not hold up tasks that need none. An early
    // attempt is under way before its local activity has a slot.
    maxConcurrentLocalActivityExecutions: 200,
    // Activities that start, wake and watch deliveries. None of them waits for an endpoint.
    maxConcurrentActivityTaskExecutions: 50,
    // Waiting deliveries kept in memory; others are replayed from their history when they wake. About 200 MB.
    maxCachedWorkflows: 250,
  });
  const isolated = await Worker.create({
    ...common,
    taskQueue: isolatedQueue(settings.taskQueue),
    activities: { attemptMembers: activities.attemptMembers },
    maxConcurrentActivityTaskExecutions: settings.isolatedAttempts,
  });
  const workers = [main, isolated];
  const done = Promise.all(workers.map((worker) => worker.run())).then(() => {});
  return {
    isRunning: () => workers.every((worker) => worker.getState() === 'RUNNING'),
    done,
    async stop() {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await done;
    },
  };
}
