import { isDeepStrictEqual } from 'node:util';
import { type DeliveryKey, deliveryId } from '../../src/domain/basics/delivery-id.js';
import { present } from '../../src/domain/basics/objects.js';
import { factsOf } from '../../src/domain/delivery/carried.js';
import { isClosed, shownRecord } from '../../src/domain/delivery/delivery.js';
import type { DeliverySnapshot } from '../../src/domain/delivery/delivery-state.js';
import type { DeliveryOrder } from '../../src/domain/order/delivery-order.js';
import type { PayloadSealer } from '../../src/domain/privacy/payload-sealer.js';
import { committedRecord } from '../../src/domain/records/commitments.js';
import type { WholeDelivery } from '../../src/domain/records/row/whole-delivery.js';
import {
  attemptsKnown,
  deliveryAfter,
  endedDelivery,
  nameOfAttempt,
  relationOf,
  relationOfLatest,
  rowOf,
  terminatedDelivery,
  unsaid,
  untold,
} from '../../src/domain/records/row.js';
import type {
  DeliveryRows,
  EventForRows,
  KnownEnd,
  KnownRow,
  RowStore,
  RowToWrite,
  TerminatedExecution,
  Told,
  ToldDelivery,
} from '../../src/domain/records/told.js';
import { openAttempts } from '../../src/domain/view/attempt-view.js';

/** How often rows are read again in whose place somebody else has written. Two runs at once are rare. */
const MAX_TRIES = 10;

/** Turn of a delivery that was terminated: a late report of its run is stale. */
const LAST_TURN = Number.MAX_SAFE_INTEGER;

export interface KeeperOptions {
  rows: RowStore;
  sealer: PayloadSealer;
  /** The latest run of an execution; `undefined` if there is none any more. */
  latestRun(workflowId: string): Promise<string | undefined>;
  order: Pick<DeliveryOrder, 'kept'>;
  /** Whether an endpoint is active, or gone: as this process knows, which may be a second late. */
  isActiveOrGone(accountId: string, endpointId: string): Promise<boolean>;
  /** Has a delivery attempted that waits. */
  wake(delivery: DeliveryKey, workflowId: string): Promise<void>;
}

/** Keeps rows of deliveries by what their executions tell. */
export class Keeper implements DeliveryRows {
  private readonly options: KeeperOptions;

  constructor(options: KeeperOptions) {
    this.options = options;
  }

  async keep(told: Told, isNew = false): Promise<Set<string>> {
    const { rows } = this.options;
    const outdone = new Set<string>();
    const { events, altered } = await this.eventsOf(told.deliveries);
    // Reports on an event past its retention are dropped.
    let left = told.deliveries.filter(({ event_id }) => events.has(event_id));
    for (let tries = isNew ? 0 : 1; left.length > 0; tries += 1) {
      if (tries > MAX_TRIES) throw new Error('rows of deliveries are written by several runs at once');
      const known = tries === 0 ? new Map<string, KnownRow>() : await this.known(left);
      const next = await Promise.all(
        left.map((one) => this.rowAfter(known.get(deliveryId(one)), events.get(one.event_id), told, one)),
      );
      const lost = await rows.write(next.flatMap((row) => row ?? []));
      for (const [at, one] of left.entries()) {
        const row = known.get(deliveryId(one));
        if (!next[at] && row && !saysSo(row, told, one)) outdone.add(row.id);
      }
      left = left.filter((one) => lost.has(deliveryId(one)));
    }
    if (altered) throw altered;
    const ordered = told.deliveries.filter(mayMoveOrder);
    // Nobody waits for it: what is not woken looks by itself.
    if (ordered.length > 0) void this.options.order.kept(ordered).catch(() => {});
    void this.wakeLate(told).catch(() => {});
    return outdone;
  }

  /**
   * Wakes deliveries that wait for an endpoint which takes deliveries by now. Whoever resumed it looked for rows then
   * and for half a minute after that, and a row can be written later. Without this, the delivery would wait until it
   * expires.
   */
  private async wakeLate({ run, turn, deliveries }: Told): Promise<void> {
    // An execution that has not begun tells what it waits for when it begins.
    if (turn === 0) return;
    for (const one of deliveries.filter(waitsForOwner))
      if (await this.options.isActiveOrGone(one.account_id, one.endpoint_id))
        await this.options.wake(one, run.workflow_id);
  }

  async recorded(runId: string, keys: readonly DeliveryKey[]): Promise<Map<string, DeliverySnapshot>> {
    const known = await this.known(keys);
    const recorded = new Map<string, DeliverySnapshot>();
    for (const [id, row] of known)
      if (row.run_id === runId && row.whole) recorded.set(id, snapshotOf(row.whole));
    return recorded;
  }

  async terminated(execution: TerminatedExecution): Promise<void> {
    const { rows } = this.options;
    const { run, keys } = execution;
    const { events, altered } = await this.eventsOf(keys);
    const known = await this.known(keys);
    const next = keys.map(async (key): Promise<RowToWrite[]> => {
      const before = known.get(deliveryId(key));
      const event = events.get(key.event_id);
      // The row is of another execution: the delivery has left this one.
      if (!event || before?.isClosed || (before && before.workflow_id !== run.workflow_id)) return [];
      const whole = terminatedDelivery(before?.whole ?? untold(event, run, key), execution);
      return [{ row: await this.withRecord(before, event, whole, LAST_TURN), before: before?.tag }];
    });
    // The next run reads rows that another process has written meanwhile.
    await rows.write((await Promise.all(next)).flat());
    if (altered) throw altered;
  }

  /**
   * Closes the row of a delivery as Temporal knows it, unless it is closed.
   *
   * @returns whether this has closed it
   */
  async ended(key: DeliveryKey, end: KnownEnd): Promise<boolean> {
    const { rows } = this.options;
    const { events, altered } = await this.eventsOf([key]);
    if (altered) throw altered;
    const event = events.get(key.event_id);
    const before = (await this.known([key])).get(deliveryId(key));
    if (!event || before?.isClosed || (before && !before.whole)) return false;
    const whole = endedDelivery(before?.whole ?? untold(event, end.run, key), end);
    const row = await this.withRecord(before, event, whole, LAST_TURN);
    return (await rows.write([{ row, before: before?.tag }])).size === 0;
  }

  /** The events of some deliveries, and an error if one of them is not what was written: it holds up no others. */
  private async eventsOf(keys: readonly Pick<DeliveryKey, 'event_id'>[]) {
    const found = await this.options.rows.eventsOf([...new Set(keys.map(({ event_id }) => event_id))]);
    const events = new Map<string, EventForRows>();
    let altered: Error | undefined;
    for (const [id, event] of found)
      if (event instanceof Error) altered = event;
      else events.set(id, event);
    return { events, altered };
  }

  /**
   * Rows as they are stored. The process that wrote a closed one may have been killed before it made the segment: it
   * gets one.
   */
  private async known(keys: readonly DeliveryKey[]): Promise<Map<string, KnownRow>> {
    const { rows } = this.options;
    const ids = keys.map(deliveryId);
    const known = await rows.known(ids);
    const closed = [...known].flatMap(([id, { segment }]) =>
      segment === undefined ? [] : [{ id, segment }],
    );
    return (await rows.adopt(closed)) ? rows.known(ids) : known;
  }

  /** @returns `undefined` if nothing is to be written */
  private async rowAfter(
    before: KnownRow | undefined,
    event: EventForRows | undefined,
    { run, turn, at, takes_over }: Told,
    told: ToldDelivery,
  ): Promise<RowToWrite | undefined> {
    if (!event) return undefined;
    if (takes_over && before?.run_id === run.run_id && hasMoreAttempts(before, told)) return undefined;
    const relation = before && (await this.relationTo(before, run, turn));
    if (relation === 'stale') return undefined;
    // It has a record, and its segment, already; and in one run nothing happens to a delivery after its end. A workflow
    // task that was lost may still tell otherwise.
    const isOver = before?.isClosed && before.whole && before.run_id === run.run_id;
    if (isOver && !(lacksEntries(before, told) && hasSame(before, told))) return undefined;
    const isLater = relation === 'later';
    const known = attemptsKnown(isLater ? undefined : before?.whole, told.snapshot.record);
    const unknown = told.snapshot.record.attempts.filter((_, index) => !known[index]);
    const opened = unknown.length > 0 ? await openAttempts(this.options.sealer, event, unknown) : [];
    const attempts = known.flatMap((attempt) => attempt ?? opened.shift() ?? []);
    const whole = deliveryAfter(before?.whole, event, run, told, { attempts, at, isLater });
    const row = await this.withRecord(before, event, whole, turn);
    return { row, before: before?.tag, ...(isOver && { isRetold: true }) };
  }

  private async relationTo(before: KnownRow, run: Told['run'], turn: number) {
    const relation = relationOf(before, run, turn);
    if (relation !== 'unclear') return relation;
    const latest = await this.options.latestRun(run.workflow_id);
    return latest === run.run_id ? relationOfLatest(run) : 'stale';
  }

  private async withRecord(
    before: KnownRow | undefined,
    event: EventForRows,
    whole: WholeDelivery,
    turn: number,
  ): Promise<RowToWrite['row']> {
    const { account_id, event_id, key, commitment } = event;
    const row = rowOf(event, whole);
    const revision = (before?.revision ?? 1) + (before?.isClosed ? 1 : 0);
    const common = { ...row, turn, revision, key };
    if (!isClosed(row.status)) return common;
    const salts = await this.options.rows.saltsOf({ accountId: account_id, eventId: event_id }, key, common);
    const closed = { ...row, closed: whole.delivery };
    return { ...common, record: committedRecord(account_id, closed, revision, commitment, salts) };
  }
}

/** Whether a delivery may let another one of its order go on, or be let go on itself. */
function mayMoveOrder({ order_key, snapshot: { record } }: ToldDelivery): boolean {
  return order_key !== undefined && (isClosed(record.status) || record.cause?.code === 'order');
}

/** Whether a delivery waits until somebody has its endpoint take deliveries: nothing else would have it attempted. */
function waitsForOwner({ snapshot: { record } }: ToldDelivery): boolean {
  const { status, cause } = record;
  return (
    status === 'parked' && cause?.code === 'endpoint' && cause.status !== 'failing' && cause.status !== 'busy'
  );
}

/**
 * Whether the row already holds this report. Two tasks can send a report with the same number; a row written late is
 * reported again with the next number.
 */
function saysSo(
  row: KnownRow,
  { run, turn }: Pick<Told, 'turn'> & { run: Pick<Told['run'], 'run_id'> },
  told: ToldDelivery,
): boolean {
  if (row.run_id !== run.run_id || (row.turn !== turn && (!row.isClosed || lacksEntries(row, told))))
    return false;
  return hasSame(row, told);
}

/** A row has more attempts than the report. */
function hasMoreAttempts({ whole }: KnownRow, { snapshot: { record } }: ToldDelivery): boolean {
  return (whole?.delivery.attempts.length ?? 0) > record.attempts.length;
}

/** The timeline of a row lacks an entry that is told. */
function lacksEntries({ whole }: KnownRow, { said = [] }: ToldDelivery): boolean {
  return unsaid(whole, said, whole?.delivery.attempts.at(-1)?.at).length > 0;
}

/** A row has the status, the attempts and the acts that are told. */
function hasSame({ whole }: KnownRow, { snapshot: { record } }: ToldDelivery): boolean {
  if (!whole) return false;
  const { status, attempts, interventions = [] } = whole.delivery;
  return (
    status === shownRecord(record).status &&
    isDeepStrictEqual(attempts.map(nameOfAttempt), record.attempts.map(nameOfAttempt)) &&
    interventions.length === (record.interventions ?? []).length
  );
}

/** A delivery as its execution goes on with it, as far as rules need it: its row has the rest. */
export function snapshotOf({ delivery, progress }: WholeDelivery): DeliverySnapshot {
  const { status, next_attempt_at, asked_to_wait, cause, interventions, closed_at } = delivery;
  const attempts = delivery.attempts.map(factsOf);
  const record = {
    ...{ status: status === 'terminated' ? ('cancelled' as const) : status, attempts },
    ...(next_attempt_at !== undefined && { next_attempt_at }),
    ...(asked_to_wait && { asked_to_wait }),
    ...(cause && { cause }),
    ...(interventions && { interventions }),
    ...(closed_at !== undefined && { closed_at }),
  };
  const { state = { kind: 'closed' }, failed = 0, lost_tries } = progress ?? {};
  return present({ record, state, failed, lost_tries });
}
