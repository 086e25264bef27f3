import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import { createApp } from '../../api/app.js';
import { createMetrics } from '../../api/http/metrics.js';
import { createLimiters } from '../../api/limits/limiters.js';
import type { RateLimiter } from '../../api/limits/rate-limiter.js';
import { RateSharing } from '../../api/limits/rate-sharing.js';
import { createEventsService } from '../../api/nexus/events-service.js';
import { PayloadChecks } from '../../api/payloads/payload-checks.js';
import type { Settings } from '../../config/schema.js';
import { overdueAfter } from '../../domain/stats/backlog.js';
import { FeedReader } from '../../models/feed/feed-reader.js';
import { isDatabaseUnavailable } from '../../models/mongo/unavailable.js';
import { isTemporalUnavailable } from '../../temporal/errors.js';
import { BacklogReader } from '../../temporal/read/backlog/backlog-reader.js';
import { EventReader } from '../../temporal/read/event-reader.js';
import { ScheduledExecutions } from '../../temporal/write/accept/scheduled-executions.js';
import type { DeliveryStarter } from '../../temporal/write/delivery-starter.js';
import { EndpointWorkflows } from '../../temporal/write/endpoint-workflows.js';
import { startErasure } from '../../temporal/write/privacy/erasures.js';
import { repeat } from '../process/repeat.js';
import { requireSecretBox } from '../process/secrets.js';
import { createBacklogMetrics } from './counts/backlog-metrics.js';
import { metricsPage } from './counts/metrics-page.js';
import { createLedger } from './ledger.js';
import { createLogSigners } from './log/signers.js';
import { createOpenId } from './openid.js';
import { createOutages, type WatchedServer } from './outages.js';
import type { Readiness } from './readiness.js';
import type { keepNumbers } from './sequence/keep-numbers.js';
import { tellOfTwice } from './sequence/number-audit.js';
import type { RestoreWatch } from './sequence/restore-watch.js';
import type { Servers } from './servers.js';

/** Parts of the process that the API uses besides the settings. */
export type ApiParts = Pick<ReturnType<typeof keepNumbers>, 'numbers' | 'tell'> &
  Pick<
    Parameters<typeof createApp>[0],
    'addressPolicy' | 'incidents' | 'logger' | 'tracing' | 'development'
  > & {
    starter: DeliveryStarter;
    readiness: Readiness;
    /** Aborted once the process is to stop. */
    stopping: AbortSignal;
    warnings(): string[];
    restores: RestoreWatch;
    /** Metrics of this process. */
    registry: Registry;
    /** Where it listens. */
    url: string;
  };

/** The HTTP interface of this process. */
export type Api = Awaited<ReturnType<typeof createApi>>;

/** Makes the HTTP interface; it answers as soon as its listener is given requests. */
export async function createApi(settings: Settings, servers: Servers, parts: ApiParts) {
  const { database, temporal, sealer } = servers;
  const { client } = temporal;
  const { starter, logger } = parts;
  const ledger = createLedger(settings, servers, starter);
  const taskQueue = settings.HOOKLINE_TASK_QUEUE;
  const metrics = createMetrics(parts.registry);
  const backlog = new BacklogReader(
    client,
    database.records.search,
    overdueAfter(settings.HOOKLINE_ATTEMPT_TIMEOUT),
  );
  const limiters = createLimiters(settings, metrics);
  const { mongodb: check, temporal: checkTemporal } = parts.readiness;
  const mongodb = { name: 'MongoDB', isUnavailable: isDatabaseUnavailable, check };
  const ofTemporal = { name: 'Temporal', isUnavailable: isTemporalUnavailable, check: checkTemporal };
  const outages = createOutages([mongodb, ofTemporal], logger);
  // Few requests need Temporal, so that its outage is noticed here first.
  const noted = (server: WatchedServer) => () =>
    server.check().catch((error: unknown) => {
      outages.note(server, error);
      throw error;
    });
  const tables = Object.values(limiters).flatMap((limiter: RateLimiter) => limiter.tables);
  const sharing = new RateSharing(tables, database.rateWindows, (error) => {
    outages.note(mongodb, error);
    metrics.rateLimitStoreFailures.inc();
  });
  const sharesCounts = settings.HOOKLINE_RATE_LIMIT_STORE !== 'memory';
  if (sharesCounts) await sharing.start();
  const payloads = new PayloadChecks();
  const { restores, tell } = parts;
  // Before the first event is there to wait for it; a caller that needs it asks again.
  restores.hasLooked().catch(() => {});
  const stopLooking = repeat(settings.HOOKLINE_TEST_TIME_SCALE.restore_look_ms, () =>
    restores.look().catch((error: unknown) => {
      if (!outages.recognize(error))
        logger.warn(
          { err: error },
          'It could not be looked whether MongoDB was restored. This is tried again.',
        );
    }),
  );
  const logSigners = createLogSigners(settings, database);
  const publicUrl = settings.HOOKLINE_PUBLIC_URL ?? parts.url;
  const dependencies: Parameters<typeof createApp>[0] = {
    settings,
    ...parts,
    readiness: { ...parts.readiness, mongodb: noted(mongodb), temporal: noted(ofTemporal) },
    database,
    box: requireSecretBox(settings),
    sealer,
    payloads,
    numbersTwice: (accountId, twice) => tellOfTwice(accountId, twice, tell),
    publicUrl,
    openId: createOpenId(settings, publicUrl),
    limiters,
    metrics,
    endpointWorkflows: new EndpointWorkflows({
      client,
      taskQueue,
      verificationSchedule: settings.HOOKLINE_VERIFICATION_SCHEDULE,
      verificationLimitMs: settings.HOOKLINE_VERIFICATION_LIMIT,
      attemptTimeoutMs: settings.HOOKLINE_ATTEMPT_TIMEOUT,
    }),
    ...ledger,
    scheduledExecutions: new ScheduledExecutions(client, taskQueue),
    backlog,
    metricsPage: metricsPage(parts.registry, {
      refresh: createBacklogMetrics(parts.registry, backlog),
      sdkAddress: settings.HOOKLINE_TEMPORAL_METRICS_ADDRESS,
    }),
    events: new EventReader(ledger.sources),
    feed: new FeedReader(database.records, database.feed, database.starters),
    startErasure: (plan) => startErasure(client, taskQueue, settings.HOOKLINE_TEST_TIME_SCALE, plan),
    logKeys: {
      signing: async () => (await logSigners.signers()).map(({ verifier }) => verifier),
      known: logSigners.known,
    },
    isUnavailable: outages.recognize,
  };
  const app = createApp(dependencies);
  return {
    listener: app.callback(),
    limiters,
    /** The Nexus service for workflows that publish for an account. */
    eventsServiceOf: (accountId: string) => createEventsService(dependencies, accountId),
    /** Where a request comes from by the rule of all requests: that of Koa, which heeds `HOOKLINE_PROXY_HOPS`. */
    addressOf: (request: IncomingMessage) => app.createContext(request, new ServerResponse(request)).ip,
    async stop() {
      outages.stop();
      await Promise.all([sharesCounts && sharing.stop(), payloads.close(), stopLooking()]);
    },
  };
}
