import { startNexusWorkers } from '../../../temporal/server/nexus-workers.js';
import type { RunningWorker } from '../../../temporal/server/worker.js';
import { metricsPage } from '../counts/metrics-page.js';
import { healthListener } from '../health-listener.js';
import { type HttpServer, listen } from '../http-server.js';
import type { Listeners } from '../listeners/listeners.js';
import { createReadiness } from '../readiness.js';
import { stopLimits } from '../stops.js';
import type { Intake } from './intake.js';
import type { ProcessParts } from './process-parts.js';

/** Ways in which a process is reached. */
export interface Serving {
  http: HttpServer;
  /** Rejects if Nexus operations can no longer be carried out; absent if there are none. */
  operations?: Promise<void>;
}

/** Serves the API, and its Nexus operations. Its modules are loaded here, so that a worker does without them. */
export async function serveApi(
  parts: ProcessParts,
  { starter, restores, numbers, tell }: Intake,
  listeners: Listeners,
  worker?: Promise<RunningWorker>,
): Promise<Serving> {
  const { settings, servers, clocks, stopping, serves, writes, knowledge } = parts;
  const { addressPolicy, registry, tracing, logger, development } = parts;
  writes.add(listeners.start(starter));
  const accepting = async () => {
    if (!starter.hasRoom) throw new Error('Too many events wait to be started.');
    await restores.hasLooked();
  };
  const [{ createApi }, http] = await Promise.all([import('../api.js'), listen(settings)]);
  const { connections } = stopLimits(settings.HOOKLINE_ATTEMPT_TIMEOUT);
  serves.add(() => Promise.all([listeners.streams.stop(), http.close(connections)]));
  const api = await createApi(settings, servers, {
    ...{ starter, restores, numbers, tell, incidents: knowledge.incidents },
    ...{ addressPolicy, registry, tracing, logger, development },
    readiness: createReadiness(servers, worker, accepting),
    warnings: clocks.warnings,
    stopping: stopping.signal,
    url: http.url,
  });
  writes.add(() => api.stop());
  http.answer(listeners.serve(http, api));
  const queues = [...settings.HOOKLINE_NEXUS_ACCOUNTS];
  const services = new Map(queues.map(([queue, account]) => [queue, api.eventsServiceOf(account)]));
  const operations = await startNexusWorkers(servers.temporal, settings.TEMPORAL_NAMESPACE, services);
  serves.add(operations.stop);
  return { http, operations: operations.done };
}

/** Serves the health and the metrics of a worker, for those that start it and watch it. */
export async function serveHealth(
  { settings, servers, registry, clocks, stopping, serves }: ProcessParts,
  worker: Promise<RunningWorker>,
): Promise<Serving> {
  const readiness = createReadiness(servers, worker, undefined);
  const http = await listen(settings);
  serves.add(() => http.close(stopLimits(settings.HOOKLINE_ATTEMPT_TIMEOUT).connections));
  const sdkAddress = settings.HOOKLINE_TEMPORAL_METRICS_ADDRESS;
  const health = { readiness, warnings: clocks.warnings, stopping: stopping.signal };
  http.answer(healthListener(health, metricsPage(registry, { sdkAddress })));
  return { http };
}
