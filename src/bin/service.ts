import type { Logger } from 'pino';
import type { Development } from '../api/http/context.js';
import type { Settings } from '../config/schema.js';
import { BUNDLE_PATH } from '../temporal/server/bundle.js';
import type { RunningWorker } from '../temporal/server/worker.js';
import { createListeners } from './service/listeners/listeners.js';
import { prepareSchedule } from './service/record-schedule.js';
import { startIntake } from './service/roles/intake.js';
import { createProcessParts, type ProcessParts } from './service/roles/process-parts.js';
import { type Serving, serveApi, serveHealth } from './service/roles/serve.js';
import { createWork, startWork } from './service/roles/work.js';
import { connectServers } from './service/servers.js';
import { warnOfShortWaits } from './service/short-waits.js';
import { Stops, stopLimits, stopWithin } from './service/stops.js';

/** Role of a process: serve the API, run the worker, or both on one connection, which is the fastest. */
export const ROLES = ['all', 'api', 'worker'] as const;
export type Role = (typeof ROLES)[number];

/** A running service. */
export interface Service {
  /** Where the API is, or what a worker says of its health, without a trailing slash. */
  url: string;
  /** Rejects if the worker fails. */
  failed: Promise<never>;
  /**
   * Says at `/readyz` that this process is to stop, and closes each connection with its next response, so that proxies
   * send requests to others; it still takes them.
   */
  drain(): void;
  /**
   * Stops accepting; then, side by side, answers what was accepted and finishes the attempts in flight; and closes the
   * connections. It takes at most what {@link stopLimits} says.
   *
   * @param sinceMs when that time begins, as by `performance.now()`; default: now
   * @throws Error that says what did not end by then
   */
  stop(sinceMs?: number): Promise<void>;
}

/** Options that most callers leave out. */
export interface ServiceOptions {
  /** The workflows to run. Default: those that the build made. */
  bundlePath?: string;
  development?: Development;
}

/** Starts the service on the servers that the settings name. @throws Error that says what to change */
export async function startService(
  settings: Settings,
  role: Role,
  logger: Logger,
  options: ServiceOptions = {},
): Promise<Service> {
  warnOfShortWaits(settings.HOOKLINE_TEST_TIME_SCALE, logger);
  const stops = new Stops();
  try {
    const servers = await connectServers(settings);
    stops.add(() => servers.database.close());
    stops.add(() => servers.temporal.close());
    const { bundlePath = BUNDLE_PATH, development } = options;
    const inputs = { settings, servers, logger, bundlePath, development };
    const running = await START[role](await createProcessParts(inputs, stops));
    const { allMs } = stopLimits(settings.HOOKLINE_ATTEMPT_TIMEOUT);
    return {
      ...running,
      stop: (sinceMs = performance.now()) =>
        stopWithin(Math.max(0, sinceMs + allMs - performance.now()), 'The service', stops.run()),
    };
  } catch (error) {
    await stops.run();
    throw error;
  }
}

type Running = Omit<Service, 'stop'>;

/** Starts the parts of each role. */
const START: Record<Role, (parts: ProcessParts) => Promise<Running>> = {
  async api(parts) {
    const listeners = await createListeners(parts.settings, parts.servers, parts.logger);
    const intake = startIntake(parts);
    return untilRunning(parts, serveApi(parts, intake, listeners));
  },

  async worker(parts) {
    const work = await createWork(parts);
    const { logWatch } = work;
    const worker = startWork(parts, work, startIntake(parts, { logWatch }));
    return untilRunning(parts, serveHealth(parts, worker), worker);
  },

  async all(parts) {
    const listeners = await createListeners(parts.settings, parts.servers, parts.logger);
    const work = await createWork(parts, listeners.streams);
    const intake = startIntake(parts, work);
    const worker = startWork(parts, work, intake);
    return untilRunning(parts, serveApi(parts, intake, listeners, worker), worker);
  },
};

/** Waits until server and worker are there. */
async function untilRunning(
  { settings, servers, ownPorts, stopping }: ProcessParts,
  serving: Promise<Serving>,
  starting?: Promise<RunningWorker>,
): Promise<Running> {
  const records = starting && settings.HOOKLINE_LOG_INTERVAL !== undefined;
  const schedule = records && prepareSchedule(settings, servers.temporal.client);
  const [worker, { http, operations }] = await Promise.all([starting, serving, schedule]);
  ownPorts.add(http.port);
  stopping.signal.addEventListener('abort', () => http.retire());
  return {
    url: http.url,
    failed: new Promise((_, reject) => {
      worker?.done.catch(reject);
      operations?.catch(reject);
    }),
    drain: () => stopping.abort(),
  };
}
