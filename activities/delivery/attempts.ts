import { Context } from '@temporalio/activity';
import type { AttemptReport } from '../../src/domain/attempt/attempt-report.js';
import { attemptRequest } from '../../src/domain/delivery/attempt-request.js';
import type { ReleasedAttempts } from '../../src/domain/delivery/delivery-group.js';
import type { ActivityDependencies, FirstAttemptsRequest, ReleasedAttemptsRequest } from '../ports.js';
import { callerOf } from './caller.js';
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
    attemptFirst: async (request: FirstAttemptsRequest): Promise<(AttemptReport | null)[]> =>
      earlyAttempts.attempt(callerOf(Context.current().info).runId, request),

    /** Makes attempts at released deliveries. */
    async attemptReleased({
      attempts,
      timeout_ms,
      released_at,
      ...group
    }: ReleasedAttemptsRequest): Promise<ReleasedAttempts> {
      const lostTries = await lostTasks(ledger, Context.current().info, released_at);
      const reports = await directLane(attempts, async (one) => {
        const request = attemptRequest(group, timeout_ms, { ...one, lost_tries: lostTries });
        return request ? attempt(request) : null;
      });
      return { attempts, reports, ...(lostTries > 0 && { lost_tries: lostTries }) };
    },
  };
}
