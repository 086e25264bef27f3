import type { Logger } from 'pino';
import type { Settings } from '../config/schema.js';
import { EndpointHealth } from '../domain/endpoint/endpoint-health.js';
import { BUNDLE_PATH } from '../temporal/server/bundle.js';
import { addressPolicyOf, portsOf } from './egress.js';
import { createApi } from './service/api.js';
import { createAttempts } from './service/attempts.js';
import { listen } from './service/http-server.js';
import { createIncidents, createStarter } from './service/ledger.js';
import { createReadiness } from './service/readiness.js';
import { connectServers } from './service/servers.js';
import { runWorker } from './service/worker.js';

/** What a process does: serve the API, run the worker, or both on one connection, which is the fastest. */
export type Role = 'all' | 'api' | 'worker';

/** A running service. */
export interface Service {
  /** Where the API is, without a trailing slash; absent in a worker. */
  url: string | undefined;
  /** Rejects if the worker fails. */
  failed: Promise<never>;
  /** Stops accepting, answers what was accepted, finishes the attempts in flight, and closes the connections, in this order. */
  stop(): Promise<void>;
}

/** Starts the service on the servers that the settings name. @throws Error that says what to change */
export async function startService(
  settings: Settings,
  role: Role,
  logger: Logger,
  bundlePath = BUNDLE_PATH,
): Promise<Service> {
  const stops: (() => Promise<unknown> | undefined)[] = [];
  const stop = async () => {
    for (const stopOne of stops.splice(0).reverse()) await stopOne();
  };
  try {
    return { ...(await startParts(settings, role, logger, bundlePath, (one) => stops.push(one))), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @param onStop is given what stops each part; they are called in the opposite order */
async function startParts(
  settings: Settings,
  role: Role,
  logger: Logger,
  bundlePath: string,
  onStop: (stop: () => Promise<unknown> | undefined) => void,
): Promise<Omit<Service, 'stop'>> {
  const servers = await connectServers(settings);
  onStop(() => servers.database.close());
  onStop(() => servers.temporal.close());

  const addressPolicy = addressPolicyOf(settings);
  const ownPorts = new Set(portsOf(settings));
  const health = new EndpointHealth(settings.HOOKLINE_SLOW_ANSWER);
  const incidents = createIncidents(settings, servers);

  const attempts =
    role === 'api'
      ? undefined
      : await createAttempts(settings, servers, { health, incidents, addressPolicy, ownPorts });
  onStop(() => attempts?.poster.close());
  const starter = createStarter(
    settings,
    servers,
    health,
    role === 'all' ? attempts?.firstAttempts : undefined,
  );
  const worker = attempts && (await runWorker(settings, servers, attempts, starter, bundlePath));
  onStop(() => worker?.stop());
  onStop(async () => attempts?.firstAttempts.stop());

  const failed = new Promise<never>((_, reject) => worker?.done.catch(reject));
  if (role === 'worker') return { url: undefined, failed };

  const http = await listen(settings);
  ownPorts.add(http.port);
  const readiness = createReadiness(servers, worker !== undefined, () => worker);
  const api = await createApi(settings, servers, {
    addressPolicy,
    starter,
    incidents,
    readiness,
    logger,
    url: http.url,
  });
  onStop(() => api.stop());
  onStop(() => http.close());
  http.answer(api.listener);
  return { url: http.url, failed };
}
