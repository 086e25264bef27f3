import type { Logger } from 'pino';
import type { EarlyAttempts } from '../../../activities/delivery/early-attempts.js';
import { Keeper } from '../../../activities/records/keeper.js';
import type { ReplayLedger } from '../../../activities/replay/replay-ledger.js';
import type { Settings } from '../../config/schema.js';
import { deliveryId } from '../../domain/basics/delivery-id.js';
import type { ChangeAction } from '../../domain/change/change.js';
import type { DeliverySettings } from '../../domain/delivery/delivery.js';
import { EndpointConditions } from '../../domain/endpoint/breaker/endpoint-conditions.js';
import { DeliveryOrder } from '../../domain/order/delivery-order.js';
import { LostReplayError, type ReplayItem, type ReplayPlan } from '../../domain/replay/replay.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import type { Timings } from '../../domain/timings.js';
import { Registrations } from '../../models/endpoint/registrations.js';
import { DeliveryReader } from '../../temporal/read/delivery-reader.js';
import { findForReplay } from '../../temporal/read/replay/replay-finder.js';
import type { ReplayCursor } from '../../temporal/read/replay/replay-page.js';
import { ReplayReader } from '../../temporal/read/replay/replay-reader.js';
import { describeExecution } from '../../temporal/read/visibility/visibility.js';
import { StarterWatch } from '../../temporal/write/accept/starter-watch.js';
import { AccountDeletions } from '../../temporal/write/account-deletions.js';
import { DeliveryControl } from '../../temporal/write/delivery-control.js';
import { DeliveryStarter } from '../../temporal/write/delivery-starter.js';
import { type IncidentOptions, Incidents } from '../../temporal/write/incidents.js';
import { wakeWaiting } from '../../temporal/write/parked-deliveries.js';
import { ReplayActs } from '../../temporal/write/replay/replay-acts.js';
import { Replays } from '../../temporal/write/replay/replays.js';
import type { StartObserver } from '../../temporal/write/start-calls.js';
import { repeat, warnUnlessOutage } from '../process/repeat.js';
import type { Servers } from './servers.js';

/** A process's knowledge of endpoints by its own attempts, and the incidents of those that fail. */
export type EndpointKnowledge = ReturnType<typeof createKnowledge>;

export function createKnowledge(
  settings: Settings,
  { database: { endpoints }, temporal: { client } }: Pick<Servers, 'database' | 'temporal'>,
) {
  const { HOOKLINE_PROBE_INTERVAL: probeIntervalMs, HOOKLINE_TEST_TIME_SCALE: timings } = settings;
  const { HOOKLINE_TASK_QUEUE: taskQueue, HOOKLINE_DISABLE_AFTER: disableAfterMs } = settings;
  const conditions = new EndpointConditions({
    timings,
    slowMs: settings.HOOKLINE_SLOW_RESPONSE,
    maxDirect: settings.HOOKLINE_MAX_FIRST_ATTEMPTS,
  });
  const mark: IncidentOptions['mark'] = async ({ account_id, endpoint_id }, failing) => {
    await endpoints.setFailing(account_id, endpoint_id, failing);
  };
  const reports = { probeIntervalMs, timings, client, taskQueue, disableAfterMs, mark };
  return { conditions, incidents: new Incidents(reports, conditions) };
}

/** Order of deliveries, by the rules of their endpoints. */
export function createOrder(
  { database, temporal: { client } }: Pick<Servers, 'database' | 'temporal'>,
  timings?: Timings,
): DeliveryOrder {
  return new DeliveryOrder(database.orderPlaces, {
    rule: (accountId, endpointId) => database.endpoints.get(accountId, endpointId),
    wake: (delivery, workflowId) => wakeWaiting(client, delivery, workflowId),
    ...(timings && { timings }),
  });
}

/** Writer of rows of deliveries by the reports of their executions. */
export function createKeeper(servers: Servers): Keeper {
  const { database, temporal, sealer } = servers;
  return new Keeper({
    order: createOrder(servers),
    rows: database.records.rows,
    sealer,
    latestRun: async (workflowId) => (await describeExecution(temporal.client, workflowId))?.runId,
    isActiveOrGone: async (...endpoint) =>
      ((await database.endpoints.get(...endpoint))?.status ?? 'active') === 'active',
    wake: (delivery, workflowId) => wakeWaiting(temporal.client, delivery, workflowId),
  });
}

/**
 * @param earlyAttempts makes attempts as soon as their start is persisted: only where API and worker share a process
 */
export function createStarter(
  settings: Settings,
  servers: Servers,
  knowledge: EndpointKnowledge,
  earlyAttempts: EarlyAttempts | undefined,
  { observer, onTrouble }: { observer?: StartObserver; onTrouble?: (error: unknown) => void } = {},
): DeliveryStarter {
  const { database, temporal, sealer } = servers;
  const { client } = temporal;
  return new DeliveryStarter({
    client,
    sealer,
    store: database.events,
    remember: (event, payload) => {
      database.payloads.remember(event.event, payload, event.sealed);
      database.records.eventsOfRows.remember(event, payload);
    },
    search: database.records.search,
    places: database.orderPlaces,
    starters: database.starters,
    feed: database.feed,
    rows: createKeeper(servers),
    onTrouble,
    taskQueue: settings.HOOKLINE_TASK_QUEUE,
    earlyAttempts,
    observer,
    startsInFlight: settings.HOOKLINE_GROUP_COMMIT === 'on' ? settings.HOOKLINE_STARTS_IN_FLIGHT : 0,
    conditions: knowledge.conditions,
    releasePerSecond: settings.HOOKLINE_RELEASE_RATE,
    timings: settings.HOOKLINE_TEST_TIME_SCALE,
    settings: deliverySettings(settings),
  });
}

/** Settings of the installation that an execution gets with its deliveries. */
export function deliverySettings(settings: Settings): DeliverySettings {
  return {
    schedule: settings.HOOKLINE_RETRY_SCHEDULE,
    attempt_timeout_ms: settings.HOOKLINE_ATTEMPT_TIMEOUT,
    park_limit_ms: settings.HOOKLINE_PARK_LIMIT,
  };
}

/** How often a process says that it is there while anybody reads the feed, which may be so far behind: milliseconds. */
const READ_BEAT_MS = 500;

/**
 * Starts what dead processes have accepted and not started, now and again.
 *
 * @returns stops it, after what this process has accepted is started as far as there is time for it
 */
export function keepStarting(
  { starter_beat_ms, starter_dead_ms }: Timings,
  { database: { events, feed, starters } }: Pick<Servers, 'database'>,
  starter: DeliveryStarter,
  logger: Logger,
): () => Promise<void> {
  const watch = new StarterWatch(starter, { starters, store: events }, starter_dead_ms);
  const warn = warnUnlessOutage(
    logger,
    'It could not be found out whether other processes have left deliveries to start. This is tried again in seconds.',
  );
  let readUntil = 0;
  let isRead = false;
  const lookForReaders = async () => {
    const until = await feed.readUntil();
    isRead = until > readUntil;
    readUntil = until;
  };
  const stops = [
    repeat(starter_beat_ms, () => starter.feedOrder.beat().catch(warn), { now: true }),
    repeat(starter_beat_ms, () => lookForReaders().catch(warn), { now: true }),
    repeat(READ_BEAT_MS, async () => (isRead ? starter.feedOrder.beat().catch(warn) : undefined)),
    repeat(starter_beat_ms, () => watch.look().catch(warn), { now: true }),
  ];
  return async () => {
    const isDone = await starter.stop();
    await Promise.all(stops.map((stop) => stop()));
    await watch.stop(isDone).catch(warn);
  };
}

/**
 * Functions that start, read and steer deliveries, replays and the deletion of accounts. The API of a process has one,
 * and the rest of it another.
 */
export type Ledger = ReturnType<typeof createLedger>;

export function createLedger(
  settings: Settings,
  { database, temporal: { client } }: Servers,
  starter: DeliveryStarter,
) {
  const taskQueue = settings.HOOKLINE_TASK_QUEUE;
  const sources = { client, records: database.records, incidents: database.incidents };
  const deliveries = new DeliveryReader(sources);
  const replayReader = new ReplayReader(client, database.replays);
  const registrations = new Registrations(database);
  return {
    /** Sources from which deliveries and events are read. */
    sources,
    starter,
    deliveries,
    control: new DeliveryControl(client, starter, deliveries),
    replays: new Replays({ client, taskQueue, reader: replayReader, store: database.replays }),
    replayReader,
    /** Sources in which the deliveries of a replay are found. */
    replaySources: { records: database.records, registrations },
    registrations,
    accountDeletions: new AccountDeletions(client, taskQueue, settings.HOOKLINE_TEST_TIME_SCALE),
  };
}

/** Reads and actions of replays, for their activities. */
export function createReplayLedger(
  { database, temporal: { client } }: Servers,
  { starter, control, deliveries, replaySources, registrations }: Ledger,
): ReplayLedger {
  const acts = new ReplayActs(client, starter, control, deliveries);
  const inputOf = async ({ account_id, replay_id }: ReplayPlan) =>
    (await database.replays.get(account_id, replay_id))?.input;
  return {
    async find(plan, cursor) {
      const input = await inputOf(plan);
      // Without its filter it would act on everything.
      if (!input) throw new LostReplayError(plan.replay_id);
      const { found, ...rest } = await findForReplay(
        replaySources,
        { ...plan, filter: input.filter },
        cursor as ReplayCursor | undefined,
      );
      const items = found.filter(({ is_gone }) => !is_gone).map(({ item }) => item);
      return { ...rest, items, gone: found.length - items.length };
    },
    async act(plan, item) {
      const endpoint = await registrations.now(plan.account_id, item.endpoint_id);
      return acts.act(plan, item, endpoint?.target);
    },
    end: ({ account_id, replay_id }, progress, run_id) =>
      database.replays.end(account_id, replay_id, {
        ...{ progress, run_id, closed_at: sharedDate().toISOString() },
      }),
    async announce(plan, items, at) {
      const { account_id, replay_id: replay, actor } = plan;
      return database.changes.announceReplay(
        account_id,
        { ...(await inputOf(plan))?.from, actor, replay },
        new Map(items.map((item) => [deliveryId(item), actionOn(item, plan)])),
        new Date(at),
      );
    },
  };
}

function actionOn({ is_new }: ReplayItem, { action }: ReplayPlan): ChangeAction {
  if (action === 'resend') return is_new ? 'replayed' : 'resent';
  return ({ retry: 'retried', cancel: 'cancelled', resume: 'resumed' } as const)[action];
}
