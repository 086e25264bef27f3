import { type IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { createApp } from '../../api/app.js';
import type { Development } from '../../api/http/context.js';
import { createMetrics } from '../../api/http/metrics.js';
import { createUpgradeLimits, type UpgradeLimits } from '../../api/limits/limit-upgrades.js';
import { createLimiters, type Limiters } from '../../api/limits/limiters.js';
import type { RateLimiter } from '../../api/limits/rate-limiter.js';
import { RateSharing } from '../../api/limits/rate-sharing.js';
import { PayloadChecks } from '../../api/payloads/payload-checks.js';
import type { Settings } from '../../config/schema.js';
import type { AddressPolicy } from '../../domain/endpoint/address-policy.js';
import { NumberSource } from '../../domain/sequence/number-source.js';
import { overdueAfter } from '../../domain/stats/backlog.js';
import type { Tracing } from '../../domain/trace/tracing.js';
import type { Database } from '../../models/database.js';
import { Registrations } from '../../models/endpoint/registrations.js';
import { isDatabaseUnavailable } from '../../models/mongo/unavailable.js';
import { isTemporalUnavailable } from '../../temporal/errors.js';
import { BacklogReader } from '../../temporal/read/backlog/backlog-reader.js';
import { EventReader } from '../../temporal/read/event-reader.js';
import { InstallationReader } from '../../temporal/read/installation/installation-reader.js';
import { ReplayReader } from '../../temporal/read/replay/replay-reader.js';
import { AccountDeletions } from '../../temporal/write/account/account-deletions.js';
import type { DeliveryStarter } from '../../temporal/write/delivery-starter.js';
import { EndpointWorkflows } from '../../temporal/write/endpoint-workflows.js';
import type { Incidents } from '../../temporal/write/incidents.js';
import { startErasure } from '../../temporal/write/privacy/erasures.js';
import { Replays } from '../../temporal/write/replay/replays.js';
import { requireSecretBox } from '../process/secrets.js';
import { BacklogMetrics } from './counts/backlog-metrics.js';
import { metricsPage } from './counts/metrics-page.js';
import { createLedger, ledgerSources } from './ledger.js';
import { createLogSigners } from './log/signers.js';
import { Outages } from './outages.js';
import type { Readiness } from './readiness.js';
import { renewNumbers } from './sequence/renew-numbers.js';
import type { Servers } from './servers.js';

/** What the API takes part in besides the settings. */
export interface ApiParts {
  addressPolicy: AddressPolicy;
  starter: DeliveryStarter;
  incidents: Incidents;
  readiness: Readiness;
  logger: Logger;
  /** What this process counts. */
  registry: Registry;
  tracing: Tracing | undefined;
  development?: Development | undefined;
  /** Where it listens. */
  url: string;
}

/** The HTTP interface of this process. */
export interface Api {
  listener: RequestListener;
  /** Counts requests for streams, which the listener does not see. */
  upgrades: UpgradeLimits;
  stop(): Promise<void>;
}

/** Makes the HTTP interface; it answers as soon as its listener is given requests. */
export async function createApi(settings: Settings, servers: Servers, parts: ApiParts): Promise<Api> {
  const { database, temporal, sealer } = servers;
  const { client } = temporal;
  const { starter, logger } = parts;
  const metrics = createMetrics(parts.registry);
  const backlog = new BacklogReader(client, overdueAfter(settings.HOOKLINE_ATTEMPT_TIMEOUT));
  const backlogMetrics = new BacklogMetrics(parts.registry, backlog);
  const limiters = createLimiters(settings, metrics);
  const outages = new Outages(
    [
      { name: 'MongoDB', isUnavailable: isDatabaseUnavailable, check: parts.readiness.mongodb },
      { name: 'Temporal', isUnavailable: isTemporalUnavailable, check: parts.readiness.temporal },
    ],
    logger,
  );
  const sharing = await shareCounts(settings, database, limiters, (error) => {
    outages.note('MongoDB', error);
    metrics.rateLimitStoreFailures.inc();
  });
  const registrations = new Registrations(database);
  const replayReader = new ReplayReader(client);
  const payloads = new PayloadChecks();
  const numbers = new NumberSource(database.sequences);
  const renewing = renewNumbers(numbers, logger);
  const logSigners = createLogSigners(settings, database);
  const ledger = createLedger(servers, starter);
  const app = createApp({
    settings,
    ...parts,
    database,
    box: requireSecretBox(settings),
    sealer,
    payloads,
    numbers,
    publicUrl: settings.HOOKLINE_PUBLIC_URL ?? parts.url,
    limiters,
    metrics,
    endpointWorkflows: createEndpointWorkflows(settings, servers),
    accountDeletions: new AccountDeletions(
      client,
      settings.HOOKLINE_TASK_QUEUE,
      settings.HOOKLINE_TEST_TIME_SCALE,
    ),
    ...ledger,
    backlog,
    metricsPage: metricsPage(parts.registry, {
      refresh: () => backlogMetrics.refresh(),
      sdkAddress: settings.HOOKLINE_TEMPORAL_METRICS_ADDRESS,
    }),
    events: new EventReader(ledgerSources(servers, starter)),
    replays: new Replays({
      client,
      taskQueue: settings.HOOKLINE_TASK_QUEUE,
      reader: replayReader,
      started: database.startedReplays,
    }),
    startErasure: (plan) =>
      startErasure(client, settings.HOOKLINE_TASK_QUEUE, settings.HOOKLINE_TEST_TIME_SCALE, plan),
    installation: new InstallationReader(client, ledger.deliveries.extras),
    visibility: temporal.visibility,
    replayReader,
    replaySources: { client, registrations, sealer },
    registrations,
    logKeys: {
      signing: async () => (await logSigners.signers()).map(({ verifier }) => verifier),
      known: logSigners.known,
    },
    isUnavailable: (error) => outages.recognize(error),
  });
  return {
    listener: app.callback(),
    upgrades: createUpgradeLimits(limiters, (request) => addressOf(app, request)),
    async stop() {
      outages.stop();
      await sharing?.stop();
      await payloads.close();
      await renewing.stop();
    },
  };
}

/** Where a request comes from by the rule of all requests: that of Koa, which heeds `HOOKLINE_PROXY_HOPS`. */
function addressOf(app: ReturnType<typeof createApp>, request: IncomingMessage): string {
  return app.createContext(request, new ServerResponse(request)).ip;
}

/** Shares what this process counts for the rate limits with the other processes, unless the settings say that it counts alone. */
async function shareCounts(
  settings: Settings,
  { rateWindows }: Database,
  limiters: Limiters,
  failed: (error: unknown) => void,
): Promise<RateSharing | undefined> {
  if (settings.HOOKLINE_RATE_LIMIT_STORE === 'memory') return undefined;
  const tables = Object.values(limiters).flatMap((limiter: RateLimiter) => limiter.tables);
  const sharing = new RateSharing(tables, rateWindows, failed);
  await sharing.start();
  return sharing;
}

function createEndpointWorkflows(settings: Settings, { temporal: { client } }: Servers): EndpointWorkflows {
  return new EndpointWorkflows({
    client,
    taskQueue: settings.HOOKLINE_TASK_QUEUE,
    verificationSchedule: settings.HOOKLINE_VERIFICATION_SCHEDULE,
    verificationLimitMs: settings.HOOKLINE_VERIFICATION_LIMIT,
    attemptTimeoutMs: settings.HOOKLINE_ATTEMPT_TIMEOUT,
  });
}
