import { snapshotOf } from '../../../activities/records/keeper.js';
import type { Settings } from '../../config/schema.js';
import { inParts } from '../../domain/basics/bounded-memory.js';
import { deliveryId } from '../../domain/basics/delivery-id.js';
import { UNITS } from '../../domain/basics/duration.js';
import { idTime } from '../../domain/basics/id-time.js';
import { groupedBy } from '../../domain/basics/objects.js';
import type { KnownRow } from '../../domain/records/told.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import { everyWithoutRow } from '../../temporal/read/backlog/not-begun.js';
import {
  type KnownOf,
  knownOfEvent,
  knownOfOpen,
  type OwnedKey,
} from '../../temporal/read/records/known-ends.js';
import { executionsWithoutEvent } from '../../temporal/read/sequence/unknown-executions.js';
import { ScheduledExecutions } from '../../temporal/write/accept/scheduled-executions.js';
import { StartCalls } from '../../temporal/write/start-calls.js';
import { print } from '../client/terminal.js';
import { CommandError, type Values } from '../command.js';
import { createLogger } from '../process/output.js';
import { createKeeper, deliverySettings } from '../service/ledger.js';
import { connectServers, type Servers } from '../service/servers.js';

/** Deliveries that are looked at side by side. */
const SIDE_BY_SIDE = 10;

/** Outcomes of a delivery, in the order in which the counts are printed. */
const OUTCOMES = ['started', 'closed', 'running', 'unreadable'] as const;
type RebuildOutcome = (typeof OUTCOMES)[number];

/**
 * Makes what is done follow what is stored, after a restore of MongoDB: starts what the restored documents say is open
 * and Temporal does not do, closes what Temporal knows to have ended, and reports what Temporal alone knows. It can be
 * repeated at any time, also while processes run, and does nothing twice.
 *
 * @returns whether everything could be read
 */
export async function rebuild(settings: Settings, values: Values): Promise<boolean> {
  createLogger({ ...settings, HOOKLINE_LOG_LEVEL: 'error' });
  const since = sinceOf(values['since'], settings);
  const servers = await connectServers(settings);
  try {
    const run = new Rebuild(settings, servers, values['dry-run'] === true);
    await run.openRows();
    await run.eventsWithoutRows(since);
    await run.scheduledEvents();
    await run.unknownExecutions(since);
    for (const line of run.summary()) print(line);
    return run.counts.unreadable === 0;
  } finally {
    await servers.temporal.close();
    await servers.database.close();
  }
}

class Rebuild {
  readonly counts: Record<RebuildOutcome, number> = { started: 0, closed: 0, running: 0, unreadable: 0 };
  private unknown = 0;
  private readonly settings: Settings;
  private readonly servers: Servers;
  private readonly isDry: boolean;
  private readonly keeper: ReturnType<typeof createKeeper>;
  private readonly calls: StartCalls;

  constructor(settings: Settings, servers: Servers, isDry: boolean) {
    this.settings = settings;
    this.servers = servers;
    this.isDry = isDry;
    this.keeper = createKeeper(servers);
    this.calls = new StartCalls({
      client: servers.temporal.client,
      taskQueue: settings.HOOKLINE_TASK_QUEUE,
      earlyAttempts: undefined,
      rows: this.keeper,
      timings: settings.HOOKLINE_TEST_TIME_SCALE,
      settings: deliverySettings(settings),
    });
  }

  /** Goes on with every open delivery whose execution is not there, or is over. */
  async openRows(): Promise<void> {
    const { records } = this.servers.database;
    for await (const some of records.search.everyOpen())
      for (const keys of inParts(some, SIDE_BY_SIDE)) {
        const rows = await records.rows.known(keys.map(deliveryId));
        await Promise.all(keys.map((key) => this.openRow(key, rows.get(deliveryId(key)))));
      }
  }

  private async openRow(key: OwnedKey, row: KnownRow | undefined): Promise<void> {
    if (row?.whole === undefined) {
      if (row) this.tell('unreadable', key, 'its row was altered');
      return;
    }
    const known = await knownOfOpen(this.servers.temporal.client, key, row.whole.delivery);
    if (known.isRunning) this.counts.running += 1;
    else if (known.end) await this.close(key, known.end);
    else await this.goOn(key);
  }

  /** Waits until the reports of an execution are stored, which is before it ends: a row that is open still has none. */
  private async goOn(key: OwnedKey): Promise<void> {
    const { records, events } = this.servers.database;
    const id = deliveryId(key);
    const row = (await records.rows.known([id])).get(id);
    if (!row?.whole || row.isClosed) return;
    const stored = await events.find(key.event_id);
    if (!stored) return this.tell('unreadable', key, 'its event is gone, or was altered');
    const { endpoint_id } = key;
    const target = stored.targets.find((one) => one.endpoint_id === endpoint_id) ?? { endpoint_id };
    const known = snapshotOf(row.whole);
    const { record, state } = known;
    // Without what was sealed with a key that is gone, it is not known how far it was: an attempt finds out.
    const snapshot = { ...known, state: state.kind === 'closed' ? { kind: 'called' as const } : state };
    const lost = { snapshot, started_at: row.whole.delivery.started_at };
    const start = () =>
      this.calls.goOn(stored.event, target, lost, `rebuild ${id} ${row.run_id} ${row.turn}`);
    if (!this.isDry && !(await start())) this.counts.running += 1;
    else this.tell('started', key, `goes on after ${record.attempts.length} attempts`);
  }

  private async close(key: OwnedKey, end: NonNullable<KnownOf['end']>): Promise<void> {
    if (this.isDry || (await this.keeper.ended(key, end)))
      this.tell('closed', key, `${end.status}, by what Temporal knows of ${end.run.workflow_id}`);
  }

  /** Starts deliveries of events that have neither a row nor an execution. */
  async eventsWithoutRows(since: Date): Promise<void> {
    const { search } = this.servers.database.records;
    const { HOOKLINE_RECORD_DAYS: kept, HOOKLINE_TEST_TIME_SCALE: timings } = this.settings;
    const now = sharedNow();
    for await (const { found } of everyWithoutRow(search, undefined, since.getTime())) {
      const ageOf = ({ event_id }: OwnedKey) => now - idTime(event_id);
      // A younger one is about to be started, by its process or another one; the row of an older one may be removed.
      const left = found.filter((key) => ageOf(key) >= timings.starter_dead_ms);
      this.counts.running += found.length - left.length;
      const keys = left.filter((key) => ageOf(key) < kept.days(key.account_id, key.event_kind) * UNITS.d);
      for (const some of inParts([...groupedBy(keys, (key) => key.event_id)], SIDE_BY_SIDE))
        await Promise.all(some.map(([id, ofEvent]) => this.eventWithoutRows(id, ofEvent)));
    }
  }

  /** Starts what sends scheduled events. */
  async scheduledEvents(): Promise<void> {
    const { database, temporal } = this.servers;
    const executions = new ScheduledExecutions(temporal.client, this.settings.HOOKLINE_TASK_QUEUE);
    for await (const { _id: id, account_id, event_kind, due_at } of database.scheduled.everyWaiting()) {
      const started = this.isDry || (await executions.start({ account_id, id, event_kind, due_at }));
      this.counts[started ? 'started' : 'running'] += 1;
    }
  }

  private async eventWithoutRows(eventId: string, keys: readonly OwnedKey[]): Promise<void> {
    const { records, events } = this.servers.database;
    const { client } = this.servers.temporal;
    const known = await knownOfEvent(client, this.settings.HOOKLINE_TASK_QUEUE, eventId, keys);
    const rows = await records.rows.known(keys.map(deliveryId));
    const stored = await events.find(eventId);
    for (const key of keys) {
      const id = deliveryId(key);
      const { isRunning = false, end } = known.get(id) ?? {};
      const target = stored?.targets.find(({ endpoint_id }) => endpoint_id === key.endpoint_id);
      if (rows.has(id)) continue;
      if (isRunning) this.counts.running += 1;
      else if (end) await this.close(key, end);
      else if (!stored || !target) this.tell('unreadable', key, 'its event has no payload, or was altered');
      else {
        const begun = { by: '', is_lost: true } as const;
        const pending = { event: stored.event, target, placement: { isolated: false }, begun };
        if (!this.isDry) await this.calls.startAlone([pending]);
        this.tell('started', key, 'begins: nothing is known of it but its event');
      }
    }
  }

  /** Names executions that Temporal has and whose events are not there. */
  async unknownExecutions(since: Date): Promise<void> {
    const { temporal, database } = this.servers;
    const { events, sequences } = database;
    const stored = {
      stored: (ids: readonly string[]) => events.stored(ids),
      carrying: (...asked: Parameters<typeof sequences.events.carrying>) =>
        sequences.events.carrying(...asked),
    };
    const queue = this.settings.HOOKLINE_TASK_QUEUE;
    for await (const execution of executionsWithoutEvent(temporal.client, queue, stored, since)) {
      this.unknown += 1;
      print(`${execution.workflowId}: MongoDB has no event of it (${execution.status.name.toLowerCase()})`);
    }
  }

  private tell(outcome: RebuildOutcome, key: OwnedKey, what: string): void {
    this.counts[outcome] += 1;
    print(`${deliveryId(key)}: ${outcome}, ${what}`);
  }

  summary(): string[] {
    const { started, closed, running, unreadable } = this.counts;
    return [
      `${this.isDry ? 'Would be started' : 'Started'}: ${started}. Closed by what Temporal knows: ${closed}. Left alone, because they run: ${running}. Not readable: ${unreadable}.`,
      `Executions whose events MongoDB does not have: ${this.unknown}.`,
    ];
  }
}

/** From when on events are looked at: what Temporal keeps, and a day more. */
function sinceOf(text: Values[string], { HOOKLINE_RETENTION_DAYS }: Settings): Date {
  if (text === undefined) return new Date(sharedNow() - (HOOKLINE_RETENTION_DAYS + 1) * UNITS.d);
  const since = new Date(String(text));
  if (Number.isNaN(since.getTime()))
    throw new CommandError(`--since must be a time, such as 2026-11-26T12:00:00Z, not "${String(text)}".`);
  return since;
}
