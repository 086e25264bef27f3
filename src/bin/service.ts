import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { createAttemptDelivery } from '../../activities/delivery/attempt-delivery.js';
import { FirstAttempts } from '../../activities/delivery/first-attempts.js';
import { createPoster } from '../../activities/http/poster.js';
import { createApp } from '../api/app.js';
import { createMetrics } from '../api/http/metrics.js';
import { createLimiters } from '../api/limits/limiters.js';
import { TallySharing } from '../api/limits/tally-sharing.js';
import { createOAuthProvider } from '../api/oauth/provider.js';
import type { Settings } from '../config/schema.js';
import { RateCounters } from '../domain/access/rate-counters.js';
import { RELEASE } from '../domain/basics/release.js';
import { withTimeout } from '../domain/basics/with-timeout.js';
import { EndpointHealth } from '../domain/endpoint/endpoint-health.js';
import { connectDatabase } from '../models/database.js';
import { isDatabaseUnavailable } from '../models/mongo/unavailable.js';
import { DeliveryReader } from '../temporal/read/delivery-reader.js';
import { EventReader } from '../temporal/read/event-reader.js';
import { BUNDLE_PATH } from '../temporal/server/bundle.js';
import { connectTemporal } from '../temporal/server/connection.js';
import { isTemporalUnavailable } from '../temporal/server/unavailable.js';
import { startWorker } from '../temporal/server/worker.js';
import { DeliveryControl } from '../temporal/write/delivery-control.js';
import { DeliveryStarter } from '../temporal/write/delivery-starter.js';
import { EndpointWorkflows } from '../temporal/write/endpoint-workflows.js';
import { Incidents } from '../temporal/write/incidents.js';
import { addressPolicyOf, connectorOptions, portsOf } from './egress.js';
import { endpointDirectory, pendingEndpoints } from './endpoint-ports.js';
import { requireServers } from './migrate.js';
import { requireSecretBox } from './secrets.js';

/** What a process does: serve the API, run the worker, or both on one connection, which is the fastest. */
export type Role = 'all' | 'api' | 'worker';

/** Beyond an attempt's own limit, before a worker that stops gives up waiting for it, milliseconds. */
const SHUTDOWN_MARGIN_MS = 5_000;
const READY_CHECK_MS = 2_000;
/** How often idle connections are looked for while the API stops, milliseconds. */
const IDLE_CHECK_MS = 50;

/** A running service. */
export interface Service {
  /** Where the API is, without a trailing slash; absent in a worker. */
  url: string | undefined;
  /** Rejects where the worker fails. */
  failed: Promise<never>;
  /** Stops accepting, answers what was accepted, finishes the attempts in flight, and lets go of the servers, in this order. */
  stop(): Promise<void>;
}

/** Starts the service on the servers that the settings name. */
export async function startService(
  settings: Settings,
  role: Role,
  logger: Logger,
  bundlePath = BUNDLE_PATH,
): Promise<Service> {
  const servers = requireServers(settings);
  const database = await connectDatabase(servers.mongodbUri, requireSecretBox(settings));
  const temporal = await connectTemporal(servers.temporal);
  const { client } = temporal;

  const addressPolicy = addressPolicyOf(settings);
  const ownPorts = new Set(portsOf(settings));
  const poster = createPoster(await connectorOptions(settings, addressPolicy, () => [...ownPorts]));
  const health = new EndpointHealth(settings.HOOKLINE_SLOW_ANSWER);
  const incidents = new Incidents({
    client,
    task_queue: settings.HOOKLINE_TASK_QUEUE,
    disable_after_ms: settings.HOOKLINE_DISABLE_AFTER,
    probe_interval_ms: settings.HOOKLINE_PROBE_INTERVAL,
  });
  const endpoints = endpointDirectory(database.endpoints);
  const turns = database.deliveryTurns;
  const userAgent = `Hookline/${RELEASE}`;
  const firstAttempts = new FirstAttempts(
    createAttemptDelivery({ endpoints, turns, poster, health, incidents, userAgent }),
  );
  const starter = new DeliveryStarter({
    client,
    task_queue: settings.HOOKLINE_TASK_QUEUE,
    head_start: role === 'all' ? firstAttempts : undefined,
    starts_in_flight: settings.HOOKLINE_GROUP_COMMIT === 'on' ? settings.HOOKLINE_STARTS_IN_FLIGHT : 0,
    health,
    release_per_second: settings.HOOKLINE_RELEASE_RATE,
    max_first_attempts: settings.HOOKLINE_MAX_FIRST_ATTEMPTS,
    settings: {
      schedule: settings.HOOKLINE_RETRY_SCHEDULE,
      attempt_timeout_ms: settings.HOOKLINE_ATTEMPT_TIMEOUT,
      park_limit_ms: settings.HOOKLINE_PARK_LIMIT,
    },
  });

  const worker =
    role === 'api'
      ? undefined
      : await startWorker(
          temporal,
          {
            namespace: settings.TEMPORAL_NAMESPACE,
            task_queue: settings.HOOKLINE_TASK_QUEUE,
            bundle_path: bundlePath,
            isolated_attempts: settings.HOOKLINE_ISOLATED_ATTEMPTS,
            shutdown_grace_ms: settings.HOOKLINE_ATTEMPT_TIMEOUT + SHUTDOWN_MARGIN_MS,
          },
          {
            endpoints,
            pending: pendingEndpoints(database.endpoints, starter),
            publicUrl: settings.HOOKLINE_PUBLIC_URL,
            poster,
            firstAttempts,
            ledger: starter,
            userAgent,
          },
        );

  const metrics = createMetrics();
  const counters = new RateCounters();
  const sharing =
    role === 'worker' || settings.HOOKLINE_RATE_LIMIT_STORE === 'memory'
      ? undefined
      : new TallySharing(counters, database.rateTallies, (error) => {
          logger.error(
            { err: error },
            'rate limits: counts cannot be shared, going on with what is known here',
          );
          metrics.rateLimitStoreFailures.inc();
        });
  await sharing?.start();

  const cookieSecret = await database.installationSecrets.get('cookies');
  const letGo = async () => {
    firstAttempts.stop();
    await worker?.stop();
    await poster.close();
    await temporal.close();
    await database.close();
  };
  const server =
    role === 'worker'
      ? undefined
      : await listen(createServer(), settings).catch(async (error: unknown) => {
          await letGo();
          throw error;
        });
  const url = server && `http://${settings.HOOKLINE_HOST}:${(server.address() as AddressInfo).port}`;

  const deliveries = new DeliveryReader(client, starter.recentGroups);
  const app = createApp({
    settings,
    addressPolicy,
    database,
    oauth: createOAuthProvider({
      database,
      // A worker serves nobody.
      publicUrl: settings.HOOKLINE_PUBLIC_URL ?? url ?? 'http://localhost',
      cookieSecret,
      proxyHops: settings.HOOKLINE_PROXY_HOPS,
      logger,
    }),
    limiters: createLimiters(settings, counters, metrics),
    metrics,
    starter,
    endpointWorkflows: new EndpointWorkflows({
      client,
      task_queue: settings.HOOKLINE_TASK_QUEUE,
      verification_schedule: settings.HOOKLINE_VERIFICATION_SCHEDULE,
      verification_limit_ms: settings.HOOKLINE_VERIFICATION_LIMIT,
      attempt_timeout_ms: settings.HOOKLINE_ATTEMPT_TIMEOUT,
    }),
    control: new DeliveryControl(client, starter, deliveries),
    deliveries,
    incidents,
    events: new EventReader(client, starter.recentGroups),
    logger,
    readiness: {
      mongodb: () => withTimeout(READY_CHECK_MS, database.ping()),
      temporal: async () => {
        const namespace = settings.TEMPORAL_NAMESPACE;
        await withTimeout(READY_CHECK_MS, client.workflowService.describeNamespace({ namespace }));
      },
      ...(worker && {
        worker: async () => {
          if (!worker.isRunning()) throw new Error('the worker does not run');
        },
      }),
    },
    isUnavailable: (error) => isTemporalUnavailable(error) || isDatabaseUnavailable(error),
  });
  if (server) ownPorts.add((server.address() as AddressInfo).port);
  server?.on('request', app.callback());

  return {
    url,
    failed: new Promise((_, reject) => worker?.done.catch(reject)),
    async stop() {
      if (server) await closeServer(server);
      await sharing?.stop();
      await letGo();
    },
  };
}

/** The port of the API cannot be had. */
export class ApiPortError extends Error {
  constructor(port: number, cause: Error) {
    super(
      `Port ${port} (the API) cannot be listened on: ${cause.message}. Choose another one with HOOKLINE_PORT.`,
      { cause },
    );
    this.name = 'ApiPortError';
  }
}

async function listen(server: Server, { HOOKLINE_HOST, HOOKLINE_PORT }: Settings): Promise<Server> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new ApiPortError(HOOKLINE_PORT, error)));
    server.listen(HOOKLINE_PORT, HOOKLINE_HOST, resolve);
  });
  return server;
}

/**
 * Resolves when every request under way has been answered. A connection is closed when it is idle, or with its next answer: by itself
 * Node.js would serve a busy client for ever.
 */
async function closeServer(server: Server): Promise<void> {
  server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'));
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const closeIdle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  await closed;
  clearInterval(closeIdle);
}
