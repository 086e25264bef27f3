import { Context } from '@temporalio/activity';
import { attemptRequest } from '../../src/domain/delivery/attempt-request.js';
import type { AttemptOrders, MadeAttempts } from '../../src/domain/records/row/attempt-orders.js';
import type { Reports } from '../records/attempt-rows.js';
import { createKeepRows } from '../records/keep-rows.js';
import type { AttemptDelivery } from './attempt-delivery.js';
import type { EarlyAttempts } from './early-attempts.js';
import { timed } from './hand-over.js';
import { lostTasks, type TaskTries } from './lost-tries.js';
import { createMakeAttempts, type MakeAttemptsPorts } from './make-attempts.js';
import { directLane } from './side-by-side.js';

/** Attempts of an execution to make in the direct lane, inside a workflow task. */
export interface DirectAttempts extends AttemptOrders, Asked {}

/** Attempts at released deliveries. */
export interface ReleasedAttempts extends DirectAttempts {
  /** How long ago the oldest of their releases was sent, milliseconds. */
  waited_ms?: number;
}

/** Request of a workflow to a local activity, with its time. */
export interface Asked {
  /** The workflow's time, milliseconds since the epoch. */
  asked_at: number;
}

/** Dependencies of attempts in the direct lane. */
export interface AttemptPorts extends MakeAttemptsPorts {
  attempt: AttemptDelivery;
  /** First attempts that may have begun before their workflow asks for them. */
  earlyAttempts: Pick<EarlyAttempts, 'attempt' | 'has' | 'isKeeping'>;
  /** `id` is that of this process, by which it names attempts that it has begun. */
  ledger: TaskTries & { readonly id: string };
}

/**
 * While first attempts of an execution are in flight, those of its deliveries that have closed get their rows after
 * this, and again after each further period; from the second one on, those that are in flight get one, too.
 * Milliseconds.
 */
const SHOWN_EVERY_MS = 250;

/** Another process that has made attempts keeps their rows within this, milliseconds. */
const OTHERS_KEEP_MS = 3_000;

/** The attempts that workflows ask for in the direct lane. First attempts may have begun already. */
export function createAttemptActivities(dependencies: AttemptPorts) {
  const { attempt, earlyAttempts, ledger } = dependencies;
  const makeAttempts = createMakeAttempts(dependencies);

  /** Makes the first attempts of an execution side by side, and keeps their rows. */
  function attemptFirst(request: DirectAttempts): Promise<MadeAttempts> {
    const { orders, settings, asked_at, begun, lost_tries = 0 } = request;
    // Another process has begun them, or this one has kept them, or has forgotten them because there were too many.
    const isElsewhere = begun !== undefined && !earlyAttempts.has(orders);
    const isOthers = begun && !begun.is_lost && (begun.by !== ledger.id || earlyAttempts.isKeeping(orders));
    const lost = lost_tries || (isElsewhere ? 1 : 0);
    return makeAttempts(request, {
      lost,
      isNew: true,
      ...(isOthers && { othersMs: settings.attempt_timeout_ms + OTHERS_KEEP_MS }),
      make: async (asked, positions, showSoFar) => {
        const reports: Reports = orders.map(() => null);
        const make = async (now: () => number) => {
          let periods = 0;
          const timer = setInterval(() => {
            periods += 1;
            showSoFar(reports, now(), periods > 1);
          }, SHOWN_EVERY_MS);
          try {
            return lost > 0
              ? await makeSome(asked, positions, reports)
              : await earlyAttempts.attempt(orders, settings.attempt_timeout_ms, reports);
          } finally {
            clearInterval(timer);
          }
        };
        return timed(asked_at, make);
      },
    });
  }

  /** Makes attempts at released deliveries, and keeps their rows. */
  async function attemptReleased(request: ReleasedAttempts): Promise<MadeAttempts> {
    const { asked_at, waited_ms } = request;
    const lost = await lostTasks(ledger, Context.current().info, waited_ms);
    return makeAttempts(request, {
      lost,
      make: (asked, positions) => timed(asked_at, () => makeSome(asked, positions)),
    });
  }

  /** Makes attempts at some of the orders. @param reports gets them, by positions @returns the same */
  async function makeSome(
    { orders, settings }: AttemptOrders,
    positions: readonly number[],
    reports: Reports = orders.map(() => null),
  ): Promise<Reports> {
    await directLane(positions, async (position) => {
      const order = orders[position];
      if (order) reports[position] = await attempt(attemptRequest(order, settings.attempt_timeout_ms));
    });
    return reports;
  }

  return {
    attemptFirst,
    attemptReleased,
    /** Keeps rows of deliveries by what their execution tells. */
    keepRows: createKeepRows(dependencies),
  };
}
