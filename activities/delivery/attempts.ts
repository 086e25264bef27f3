import { Context } from '@temporalio/activity';
import type { AttemptReport } from '../../src/domain/attempt/attempt-report.js';
import { attemptRequest } from '../../src/domain/delivery/attempt-request.js';
import type { ReleasedAttempts } from '../../src/domain/delivery/delivery-group.js';
import type { ActivityDependencies, Asked, FirstAttemptsRequest, ReleasedAttemptsRequest } from '../ports.js';
import { callerOf } from './caller.js';
import { timed } from './hand-over.js';
import { lostTasks } from './lost-tries.js';
import { directLane } from './side-by-side.js';

/** The attempts that workflows ask for in the direct lane. First attempts may have begun already. */
export function createAttemptActivities({
  attempt,
  earlyAttempts,
  ledger,
}: Pick<ActivityDependencies, 'attempt' | 'earlyAttempts' | 'ledger'>) {
  return {
    /** Makes the first attempts of an execution side by side; `null` for one that could not be made. */
    attemptFirst: async ({
      asked_at,
      ...request
    }: FirstAttemptsRequest & Asked): Promise<(AttemptReport | null)[]> =>
      timed(asked_at, () => earlyAttempts.attempt(callerOf(Context.current().info).runId, request)),

    /** Makes attempts at released deliveries. */
    async attemptReleased({
      attempts,
      timeout_ms,
      asked_at,
      waited_ms,
      ...group
    }: ReleasedAttemptsRequest & Asked): Promise<ReleasedAttempts> {
      const { info } = Context.current();
      let lostTries = 0;
      const reports = await timed(asked_at, async () => {
        lostTries = await lostTasks(ledger, info, waited_ms);
        return directLane(attempts, async (one) => {
          const request = attemptRequest(group, timeout_ms, { ...one, lost_tries: lostTries });
          return request ? attempt(request) : null;
        });
      });
      return { attempts, reports, ...(lostTries > 0 && { lost_tries: lostTries }) };
    },
  };
}
