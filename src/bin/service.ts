import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import type { AttemptObserver } from '../../activities/delivery/attempt-delivery.js';
import type { Development } from '../api/http/context.js';
import type { Settings } from '../config/schema.js';
import { withTimeout } from '../domain/basics/with-timeout.js';
import type { Closing } from '../domain/stats/closing.js';
import { sharedNow } from '../domain/time/shared-time.js';
import { BUNDLE_PATH } from '../temporal/server/bundle.js';
import { readTemporalTime } from '../temporal/server/server-time.js';
import { warnUnlessOutage } from './process/repeat.js';
import type { ApiParts } from './service/api.js';
import { createAttempts } from './service/attempts.js';
import { keepChanges } from './service/change-sweep.js';
import { createDeliveryMetrics } from './service/counts/attempt-metrics.js';
import { createStartMetrics, createVisibilityMetrics } from './service/counts/call-metrics.js';
import { metricsPage } from './service/counts/metrics-page.js';
import { keepMinutes } from './service/counts/minutes.js';
import { keepTallies } from './service/counts/tallies.js';
import { addressPolicyOf, portsOf } from './service/egress.js';
import { healthListener } from './service/health-listener.js';
import { type HttpServer, listen } from './service/http-server.js';
import { createKnowledge, createLedger, createStarter, keepStarting } from './service/ledger.js';
import { createListenerExchange } from './service/listeners/listener-exchange.js';
import { createListeners, type Listeners } from './service/listeners/listeners.js';
import { createLogWatch } from './service/log/log-watch.js';
import { parseWitnesses } from './service/log/witnesses.js';
import { createLogWriter } from './service/log/writer.js';
import { emitProfileEvents } from './service/profile-events.js';
import { createReadiness } from './service/readiness.js';
import { prepareSchedule } from './service/record-schedule.js';
import { keepNumbers } from './service/sequence/keep-numbers.js';
import { keepNumbersAudited } from './service/sequence/number-audit.js';
import { createRestoreWatch } from './service/sequence/restore-watch.js';
import { createScheduledSender } from './service/sequence/send-scheduled.js';
import { connectServers, type Servers } from './service/servers.js';
import { warnOfShortWaits } from './service/short-waits.js';
import { Stops, stopLimits, stopWithin } from './service/stops.js';
import { createAlerts } from './service/watch/alerts.js';
import { watchClocks } from './service/watch/clock-watch.js';
import { startTracing } from './service/watch/tracing.js';
import { runWorker } from './service/worker.js';

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
    const parts = await startParts(settings, role, { servers, logger, ...options }, stops);
    const { allMs } = stopLimits(settings.HOOKLINE_ATTEMPT_TIMEOUT);
    return {
      ...parts,
      stop: (sinceMs = performance.now()) =>
        stopWithin(Math.max(0, sinceMs + allMs - performance.now()), 'The service', stops.run()),
    };
  } catch (error) {
    await stops.run();
    throw error;
  }
}

async function startParts(
  settings: Settings,
  role: Role,
  {
    servers,
    logger,
    bundlePath = BUNDLE_PATH,
    development,
  }: ServiceOptions & { servers: Servers; logger: Logger },
  stops: Stops,
): Promise<Omit<Service, 'stop'>> {
  const addressPolicy = addressPolicyOf(settings);
  const ownPorts = new Set(portsOf(settings));
  const knowledge = createKnowledge(settings, servers);
  const { incidents } = knowledge;
  const limits = stopLimits(settings.HOOKLINE_ATTEMPT_TIMEOUT);
  const writes = new Stops();
  stops.add(() =>
    withTimeout(limits.lastWritesMs, writes.runTogether()).catch((error: unknown) =>
      logger.warn({ err: error }, 'Counts, and what else was left to be written, were dropped.'),
    ),
  );
  writes.add(() => incidents.stop());
  const stopping = new AbortController();
  const registry = new Registry();
  const clocks = watchClocks(registry, logger);
  stops.add(() => clocks.stop());
  // Nobody waits for it: Temporal's clock is known at the latest when the first activity comes.
  readTemporalTime(servers.temporal.client, settings.HOOKLINE_TASK_QUEUE).then(clocks.look, clocks.look);
  servers.temporal.visibility.observer = createVisibilityMetrics(registry);
  const metrics = createDeliveryMetrics(registry);
  const minutes =
    role === 'api'
      ? undefined
      : keepMinutes(servers.database.minutes, logger, settings.HOOKLINE_TEST_TIME_SCALE);
  writes.add(() => minutes?.stop());
  const observer: AttemptObserver = {
    attempted(request, report) {
      metrics.attempted(request, report);
      minutes?.attempted(request, report);
    },
  };

  const tracing = await startTracing(settings, logger);
  writes.add(() => tracing?.stop());
  const listeners = role === 'worker' ? undefined : await createListeners(settings, servers, logger);
  const listenerExchange = createListenerExchange(settings, servers, listeners?.streams);
  const attempts =
    role === 'api'
      ? undefined
      : await createAttempts(settings, servers, {
          ...{ ...knowledge, observer, tracing, addressPolicy, listenerExchange, ownPorts },
        });
  stops.add(() => attempts?.poster.close());

  const earlyAttempts = role === 'all' ? attempts?.earlyAttempts : undefined;
  const starter = createStarter(settings, servers, knowledge, earlyAttempts, {
    observer: createStartMetrics(registry),
    onTrouble: warnUnlessOutage(logger, 'Deliveries could not be started. This is tried again in seconds.'),
  });
  const ledger = createLedger(settings, servers, starter);
  writes.add(listeners?.start(starter) ?? (() => {}));
  emitProfileEvents(servers, starter, logger);
  stops.add(keepChanges(servers, ledger, logger));

  const tallies =
    attempts && keepTallies(servers.database.tallies, logger, settings.HOOKLINE_TEST_TIME_SCALE);
  writes.add(() => tallies?.stop());
  const closed = (closings: readonly Closing[]) => {
    metrics.closed(closings);
    tracing?.closed(closings);
    for (const closing of closings) tallies?.tally.add(closing, sharedNow());
  };
  const alerts = attempts && (await createAlerts(settings, servers, attempts.poster, registry));
  const logWatch =
    alerts &&
    createLogWatch(logger, registry, alerts.raiser, parseWitnesses(settings.HOOKLINE_LOG_WITNESSES));
  const restores = createRestoreWatch(settings, servers, logger);
  const { stop: stopNumbers, ...numbers } = keepNumbers(servers, { restores, logWatch }, logger);
  writes.add(stopNumbers);
  const serves = new Stops();
  const works = new Stops();
  stops.add(() => stopSideBySide(limits, serves, works));
  const worker =
    attempts &&
    alerts &&
    logWatch &&
    runWorker(
      settings,
      servers,
      {
        ...attempts,
        ...alerts,
        log: createLogWriter(settings, servers, logWatch, restores),
        sendScheduled: createScheduledSender(servers, starter, numbers.numbers),
      },
      ledger,
      bundlePath,
      closed,
    );
  works.add(async () => (await worker?.catch(() => undefined))?.stop());
  works.add(() => attempts?.earlyAttempts.stop());
  works.add((logWatch && keepNumbersAudited(servers, logWatch, logger)) ?? (() => {}));

  // After the last request, and before the worker stops, which makes the first attempts of what is started.
  serves.add(keepStarting(settings.HOOKLINE_TEST_TIME_SCALE, servers, starter, logger));

  const accepting = async () => {
    if (!starter.hasRoom) throw new Error('Too many events wait to be started.');
    await restores.hasLooked();
  };
  const health = {
    readiness: createReadiness(servers, worker, role === 'worker' ? undefined : accepting),
    warnings: clocks.warnings,
    stopping: stopping.signal,
  };
  // At the same time as the worker, which loads the workflows in a thread of its own.
  const serving =
    role === 'worker'
      ? serveHealth(settings, { ...health, registry }, serves)
      : serveApi(
          settings,
          servers,
          {
            ...{ ...health, addressPolicy, starter, incidents, registry, tracing, logger, development },
            ...{ restores, ...numbers },
          },
          listeners,
          { serves, writes },
        );
  const records = worker && settings.HOOKLINE_LOG_INTERVAL !== undefined;
  const schedule = records && prepareSchedule(settings, servers.temporal.client);
  const [running, http] = await Promise.all([worker, serving, schedule]);
  ownPorts.add(http.port);
  stopping.signal.addEventListener('abort', () => http.retire());
  return {
    url: http.url,
    failed: new Promise((_, reject) => running?.done.catch(reject)),
    drain: () => stopping.abort(),
  };
}

/**
 * Stops what serves and what works at the same time: neither a client nor an attempt that takes long holds up the
 * other.
 */
async function stopSideBySide(
  { workMs, handOverMs }: ReturnType<typeof stopLimits>,
  serves: Stops,
  works: Stops,
): Promise<void> {
  const served = serves.run();
  const settled = served.catch(() => {});
  const worked = Promise.race([settled, delay(handOverMs)]).then(() => works.run());
  await stopWithin(workMs, 'What was under way', Promise.all([served, worked]));
}

/** Says how a worker is, for those that start it and watch it. */
async function serveHealth(
  settings: Settings,
  { registry, ...health }: Pick<ApiParts, 'readiness' | 'warnings' | 'stopping' | 'registry'>,
  stops: Stops,
): Promise<HttpServer> {
  const http = await listen(settings);
  stops.add(() => http.close(stopLimits(settings.HOOKLINE_ATTEMPT_TIMEOUT).connections));
  const sdkAddress = settings.HOOKLINE_TEMPORAL_METRICS_ADDRESS;
  http.answer(healthListener(health, metricsPage(registry, { sdkAddress })));
  return http;
}

/** Serves the API. Its modules are loaded here, so that a worker does without them. */
async function serveApi(
  settings: Settings,
  servers: Servers,
  parts: Omit<ApiParts, 'url'>,
  listeners: Listeners | undefined,
  { serves, writes }: { serves: Stops; writes: Stops },
): Promise<HttpServer> {
  const [{ createApi }, http] = await Promise.all([import('./service/api.js'), listen(settings)]);
  const { connections } = stopLimits(settings.HOOKLINE_ATTEMPT_TIMEOUT);
  serves.add(() => Promise.all([listeners?.streams.stop(), http.close(connections)]));
  const api = await createApi(settings, servers, { ...parts, url: http.url });
  writes.add(() => api.stop());
  http.answer(listeners?.serve(http, api) ?? api.listener);
  return http;
}
