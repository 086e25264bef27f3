import { setTimeout as delay } from 'node:timers/promises';
import type { AttemptReport } from '../../src/domain/attempt/attempt-report.js';
import { deliveryId } from '../../src/domain/basics/delivery-id.js';
import { withTimeout } from '../../src/domain/basics/with-timeout.js';
import { withoutAnswer } from '../../src/domain/delivery/carried.js';
import { isClosed, type NamedEvent } from '../../src/domain/delivery/delivery.js';
import {
  type AttemptOrders,
  endOfAttempts,
  type MadeAttempts,
  settledOrders,
} from '../../src/domain/records/row/attempt-orders.js';
import type { ToldDelivery } from '../../src/domain/records/told.js';
import { createKeepRows, type KeepRowsPorts } from '../records/keep-rows.js';

/** How often it is asked whether another process has kept what it has attempted, milliseconds. */
const LOOK_AGAIN_MS = 200;

export type Reports = (AttemptReport | null)[];

/** A delivery after the report of its attempt, and its position among the orders. */
interface Settled {
  position: number;
  delivery: ToldDelivery;
}

/** Attempts wait so long for their rows to be kept, milliseconds; after that the workflow has them kept. */
const KEPT_WITHIN_MS = 3_000;

/** Dependencies of attempts whose rows are kept. */
export interface MakeAttemptsPorts extends KeepRowsPorts {
  /** A report as it may stand in a history: its attempt is sealed, but for what rules need. */
  sealAttempt(event: NamedEvent | undefined, report: AttemptReport): Promise<AttemptReport>;
}

/** How attempts are made, and what their makers know. */
export interface Making {
  /** So many tries of each may have been sent before. */
  lost: number;
  /** Nothing was told of these deliveries before. */
  isNew?: boolean;
  /** Another process makes them, and keeps their rows: what it has not kept after so long is not made here. */
  othersMs?: number;
  /**
   * Makes attempts. Each report is settled at one time: `ended_at`.
   *
   * @param positions of the orders of which nothing is recorded
   * @param showSoFar keeps rows of what has ended so far
   * @returns reports by these positions
   */
  make(positions: readonly number[], showSoFar: ShowSoFar): Promise<Reports>;
}

/**
 * Keeps rows while attempts are in flight, unless it is doing so; nobody waits for it. Of new deliveries those that
 * have closed get one: the others need a second write later.
 *
 * @param at when, by the workflow's time. Milliseconds since the epoch
 * @param isLong the other new deliveries get a row, too
 */
export type ShowSoFar = (reports: Readonly<Reports>, at: number, isLong?: boolean) => void;

/**
 * Makes attempts that an execution asks for, and keeps their rows: what rows say need not stand in its history.
 *
 * A record of a task that was lost counts: no attempt is made in its place.
 */
export function createMakeAttempts(dependencies: MakeAttemptsPorts) {
  const { rows, sealAttempt } = dependencies;
  const keepRows = createKeepRows(dependencies);

  return async function makeAttempts(
    request: AttemptOrders,
    { lost, isNew = false, othersMs, make }: Making,
  ): Promise<MadeAttempts> {
    const { orders, run, turn } = request;
    // Where that cannot be asked, attempts are made again: none is lost, and each says that another may have arrived.
    const mayBeMade = lost > 0 || orders.some(({ attempt }) => (attempt.lost_tries ?? 0) > 0);
    let recorded = mayBeMade ? await recordedWithin(request, othersMs ?? 0) : [];
    const isRecorded = new Set(recorded.map(({ position }) => position));
    const positions = [...orders.keys()].filter((position) => !isRecorded.has(position));
    /** Those that have been told of; of new deliveries the others have no rows that could be looked for. */
    const told = new Set<number>();
    /** Those whose rows are closed: in this run nothing more happens to them. */
    const over = new Set<number>();
    const keepPart = async (part: readonly Settled[], now: number, number: number, isFirst: boolean) => {
      if (part.length === 0) return true;
      for (const { position } of part) told.add(position);
      const deliveries = part.map(({ delivery }) => delivery);
      const at = new Date(now).toISOString();
      const isKept = await keepRows({ run, turn: number, at, deliveries }, isFirst);
      for (const { position, delivery } of isKept ? part : []) if (isOver(delivery)) over.add(position);
      return isKept;
    };
    const keep = async (some: readonly Settled[], now: number, number: number): Promise<boolean> => {
      const isFirst = ({ position }: Settled) => isNew && lost === 0 && !told.has(position);
      const first = some.filter(isFirst);
      const others = some.filter((one) => !isFirst(one));
      const isFirstKept = await keepPart(first, now, number, true);
      return (await keepPart(others, now, number, false)) && isFirstKept;
    };
    const settled = (reports: Readonly<Reports>, now: number): Settled[] => {
      // Nothing is told of deliveries that had a row before and to which nothing has happened.
      const some = positions.filter((position) => !over.has(position) && (isNew || reports[position]));
      const ordered = some.flatMap((position) => orders[position] ?? []);
      const own = some.map((position) => reports[position]);
      const deliveries = settledOrders({ ...request, orders: ordered }, own, now);
      return deliveries.map((delivery, at) => ({ position: some[at] ?? 0, delivery }));
    };
    // Those that have closed are told of for the last time, which outdoes what was told while they were in flight.
    const show = async (reports: Readonly<Reports>, now: number, isLong: boolean) => {
      const some = settled(reports, now);
      const closed = some.filter(({ delivery }) => isOver(delivery));
      const open = some.filter(({ position, delivery }) => !isOver(delivery) && !told.has(position));
      await keep(closed, now, turn + 1);
      if (isLong || !isNew) await keep(open, now, turn);
    };
    let showing: Promise<void> | undefined;
    const showSoFar: ShowSoFar = (reports, now, isLong = false) => {
      showing ??= show(reports, now, isLong)
        .catch(() => {})
        .finally(() => {
          showing = undefined;
        });
    };
    const made = othersMs !== undefined ? [] : await make(positions, showSoFar);
    const reports = orders.map((_, position) => made[position] ?? null);
    const now = endOfAttempts({ reports }) ?? Date.parse(run.started_at);
    const keeping = (showing ?? Promise.resolve()).then(() => keep(settled(reports, now), now, turn + 1));
    const kept = await withTimeout(KEPT_WITHIN_MS, keeping).catch(() => undefined);
    // Something else was told meanwhile, by a task that was taken for lost: what is recorded counts.
    if (kept === false) recorded = await recordedOf(request).catch(() => recorded);
    for (const { position } of recorded) reports[position] = null;
    const some = {
      ...(recorded.length > 0 && { recorded: recorded.map(({ index, snapshot }) => ({ index, snapshot })) }),
      ...(lost > 0 && { lost_tries: lost }),
    };
    if (kept) return { reports: reports.map((one) => one && withoutAnswer(one)), ...some, kept };
    const sealed = await Promise.all(
      reports.map((report, position) => report && sealAttempt(orders[position]?.event, report)),
    );
    return { reports: sealed, ...some, kept: false };
  };

  /** Records that others have made of attempts: all of them, or as many as there are after some time. */
  async function recordedWithin(request: AttemptOrders, ms: number) {
    for (const deadline = performance.now() + ms; ; await delay(LOOK_AGAIN_MS)) {
      const recorded = await recordedOf(request).catch(() => []);
      if (recorded.length === request.orders.length || performance.now() >= deadline) return recorded;
    }
  }

  /** Records that earlier tasks have made of attempts. */
  async function recordedOf({ run, orders }: AttemptOrders) {
    const keyOf = ({ event, endpoint_id }: AttemptOrders['orders'][number]) => ({
      event_id: event.event_id,
      endpoint_id,
    });
    const recorded = await rows.recorded(run.run_id, orders.map(keyOf));
    return orders.flatMap((order, position) => {
      const { attempt } = order;
      const snapshot = recorded.get(deliveryId(keyOf(order)));
      const isMade = snapshot?.record.attempts.some(({ number }) => number === attempt.number);
      return snapshot && isMade ? [{ position, index: attempt.index, snapshot }] : [];
    });
  }
}

function isOver({ snapshot }: ToldDelivery): boolean {
  return isClosed(snapshot.record.status);
}
