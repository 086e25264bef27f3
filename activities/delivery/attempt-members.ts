import { Context } from '@temporalio/activity';
import { attemptRequest } from '../../src/domain/delivery/attempt-request.js';
import type { AttemptOrders, MadeAttempts } from '../../src/domain/records/row/attempt-orders.js';
import type { Reports, ShowSoFar } from '../records/attempt-rows.js';
import type { AttemptDelivery } from './attempt-delivery.js';
import { clockFrom, handOver } from './hand-over.js';
import { LostTries } from './lost-tries.js';
import { createMakeAttempts, type MakeAttemptsPorts } from './make-attempts.js';
import { isolatedLane } from './side-by-side.js';

/**
 * How often rows are kept of attempts that have ended while others are in flight, so that only those in flight are
 * repeated after a crash. Milliseconds.
 */
const HEARTBEAT_MS = 1_000;

/**
 * How long an attempt waits for a slot, milliseconds. Attempts of a group come at once, so most of them find no slot,
 * but an endpoint that answers quickly, even with errors, frees one after another. Attempts at an endpoint that hangs
 * are deferred after this.
 */
const SLOT_WAIT_MS = 2_000;

/** Makes attempts of an execution side by side, in the isolated lane, and keeps their rows. */
export function createAttemptMembers(dependencies: MakeAttemptsPorts & { attempt: AttemptDelivery }) {
  const { attempt } = dependencies;
  const makeAttempts = createMakeAttempts(dependencies);
  const tries = new LostTries();

  /** @throws if none could be made */
  return (request: AttemptOrders): Promise<MadeAttempts> => {
    const { info } = Context.current();
    const now = clockFrom(info.currentAttemptScheduledTimestampMs);
    return tries.counted(info, (lost) =>
      makeAttempts(request, {
        lost,
        make: (asked, positions, showSoFar) => make(asked, positions, now, showSoFar),
      }),
    );
  };

  async function make(
    { orders, settings }: AttemptOrders,
    positions: readonly number[],
    now: () => number,
    showSoFar: ShowSoFar,
  ): Promise<Reports> {
    const context = Context.current();
    const reports: Reports = orders.map(() => null);
    const errors: unknown[] = [];
    const heartbeat = setInterval(() => {
      context.heartbeat();
      showSoFar(reports, now());
    }, HEARTBEAT_MS);
    try {
      await isolatedLane(positions, async (position) => {
        const order = orders[position];
        if (!order) return;
        const request = attemptRequest(order, settings.attempt_timeout_ms, {
          isolated: true,
          ...(orders.length > 1 && { slot_wait_ms: SLOT_WAIT_MS }),
        });
        try {
          reports[position] = await attempt(request);
        } catch (error) {
          errors.push(error);
        }
      });
    } finally {
      clearInterval(heartbeat);
    }
    if (positions.length > 0 && errors.length === positions.length) throw errors[0];
    return handOver(reports, now());
  }
}
