import { setTimeout as delay } from 'node:timers/promises';
import type { AttemptReport } from '../../src/domain/attempt/attempt-report.js';
import { deliveryId } from '../../src/domain/basics/delivery-id.js';
import { withTimeout } from '../../src/domain/basics/with-timeout.js';
import { withLost } from '../../src/domain/delivery/attempt-order.js';
import { withoutAnswer } from '../../src/domain/delivery/carried.js';
import type { NamedEvent } from '../../src/domain/delivery/delivery.js';
import {
  type AttemptOrders,
  endOfAttempts,
  type MadeAttempts,
} from '../../src/domain/records/row/attempt-orders.js';
import { inColumns } from '../../src/domain/records/row/delivered-attempts.js';
import { AttemptRows, type Reports, type ShowSoFar } from '../records/attempt-rows.js';
import { createKeepRows, type KeepRowsPorts } from '../records/keep-rows.js';

/** How often it is asked whether another process has kept what it has attempted, milliseconds. */
const LOOK_AGAIN_MS = 200;

/** Attempts wait so long for their rows to be kept, milliseconds; after that the workflow has them kept. */
const KEPT_WITHIN_MS = 3_000;

/** Dependencies of attempts whose rows are kept. */
export interface MakeAttemptsPorts extends KeepRowsPorts {
  /** A report as it may stand in a history: its attempt is sealed, but for what rules need. */
  sealAttempt(event: NamedEvent | undefined, report: AttemptReport): Promise<AttemptReport>;
}

/** How attempts are made, and what their makers know. */
export interface Making {
  /** Number of tries of each that may have been sent before, besides those in its order. */
  lost: number;
  /** Nothing was told of these deliveries before. */
  isNew?: boolean;
  /** Another process makes them, and keeps their rows: what it has not kept after so long is not made here. */
  othersMs?: number;
  /**
   * Makes attempts. Each report is settled at one time: `ended_at`.
   *
   * @param asked the request, in which each order has the number of its tries that may have been sent before
   * @param positions of the orders of which nothing is recorded
   * @param showSoFar keeps rows of what has ended so far
   * @returns reports by these positions
   */
  make(asked: AttemptOrders, positions: readonly number[], showSoFar: ShowSoFar): Promise<Reports>;
}

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
    const asked = lost > 0 ? withLostTries(request, lost) : request;
    const { orders, run } = asked;
    // Where that cannot be asked, attempts are made again: none is lost, and each says that another may have arrived.
    const mayBeMade = orders.some(({ attempt }) => attempt.lost_tries !== undefined);
    let recorded = mayBeMade ? await recordedWithin(request, othersMs ?? 0) : [];
    const isRecorded = new Set(recorded.map(({ position }) => position));
    const positions = [...orders.keys()].filter((position) => !isRecorded.has(position));
    const attemptRows = new AttemptRows(keepRows, asked, { positions, isNew, mayHaveRows: lost > 0 });
    const made = othersMs !== undefined ? [] : await make(asked, positions, attemptRows.showSoFar);
    const reports = orders.map((_, position) => made[position] ?? null);
    const now = endOfAttempts({ reports }) ?? Date.parse(run.started_at);
    const kept = await withTimeout(KEPT_WITHIN_MS, attemptRows.keepAll(reports, now)).catch(() => undefined);
    // Something else may have been told meanwhile, by a task that was taken for lost: what is recorded counts.
    if (kept === false) recorded = await recordedOf(request).catch(() => recorded);
    for (const { position } of recorded) reports[position] = null;
    const some = {
      ...(recorded.length > 0 && { recorded: recorded.map(({ index, snapshot }) => ({ index, snapshot })) }),
      ...(lost > 0 && { lost_tries: lost }),
    };
    if (kept) {
      const brief = reports.map((one) => one && withoutAnswer(one));
      const attempts = orders.map(({ attempt }) => attempt);
      return { ...(request.in_columns ? inColumns(brief, attempts) : { reports: brief }), ...some, kept };
    }
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

function withLostTries(request: AttemptOrders, lost: number): AttemptOrders {
  const orders = request.orders.map((order) => ({ ...order, attempt: withLost(order.attempt, lost) }));
  return { ...request, orders };
}
