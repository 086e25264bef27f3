import { Context } from '@temporalio/activity';
import type { AttemptReport } from '../../src/domain/attempt/attempt-report.js';
import { attemptRequest } from '../../src/domain/delivery/attempt-request.js';
import type { LiveGroup, MemberAttempt } from '../../src/domain/delivery/delivery-group.js';
import type { ActivityDependencies } from '../ports.js';
import { callerOf } from './caller.js';
import { handOver } from './hand-over.js';
import { LostTries } from './lost-tries.js';
import { isolatedLane } from './side-by-side.js';

/**
 * Attempts at deliveries of the execution that calls. The payloads are in its own input, so they are not sent again.
 */
export interface MembersRequest {
  attempts: readonly MemberAttempt[];
}

/**
 * How often the reports so far are sent to Temporal, so that only attempts in flight are repeated after a crash.
 * Milliseconds.
 */
const HEARTBEAT_MS = 1_000;

/**
 * How long an attempt waits for a slot, milliseconds. Attempts of a group come at once, so most of them find no slot,
 * but an endpoint that answers quickly, even with errors, frees one after another. Attempts at an endpoint that hangs
 * are deferred after this.
 */
const SLOT_WAIT_MS = 2_000;

/** Makes attempts of an execution side by side, in the isolated lane. */
export function createAttemptMembers({ ledger, attempt }: Pick<ActivityDependencies, 'ledger' | 'attempt'>) {
  const tries = new LostTries();
  /**
   * @returns a report for each attempt, in their order; `null` for one that could not be made
   * @throws if none could be made
   */
  return ({ attempts }: MembersRequest): Promise<(AttemptReport | null)[]> =>
    tries.counted(Context.current().info, (lost) => make(attempts, lost));

  async function make(
    attempts: readonly MemberAttempt[],
    lostTries: number,
  ): Promise<(AttemptReport | null)[]> {
    const context = Context.current();
    const { workflowId, runId } = callerOf(context.info);
    const earlier = (context.info.heartbeatDetails ?? []) as (AttemptReport | null)[];
    const reports = attempts.map((_, position) => earlier[position] ?? null);
    const group = await ledger.readInput<LiveGroup>(workflowId, runId);
    const errors: unknown[] = [];
    const heartbeat = setInterval(() => context.heartbeat(reports), HEARTBEAT_MS);
    try {
      await isolatedLane([...attempts.entries()], async ([position, one]) => {
        const request = attemptRequest(group, group.attempt_timeout_ms, {
          ...one,
          isolated: true,
          ...(attempts.length > 1 && { slot_wait_ms: SLOT_WAIT_MS }),
          lost_tries: (one.lost_tries ?? 0) + lostTries,
        });
        if (reports[position] || !request) return;
        try {
          reports[position] = await attempt(request);
        } catch (error) {
          errors.push(error);
        }
      });
    } finally {
      clearInterval(heartbeat);
    }
    if (errors.length === attempts.length) throw errors[0];
    return handOver(reports);
  }
}
