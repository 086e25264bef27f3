import { Context } from '@temporalio/activity';
import type { AttemptReport } from '../../src/domain/delivery/attempt-report.js';
import { type AttemptRequest, memberAttemptRequest } from '../../src/domain/delivery/attempt-request.js';
import type { ReleasedAttempts } from '../../src/domain/delivery/delivery-group.js';
import type { ActivityDependencies, GroupAttemptRequest, ReleasedAttemptsRequest } from '../ports.js';
import { callerOf } from './caller.js';
import { LostTries } from './lost-tries.js';
import { directLane } from './side-by-side.js';

/** The attempts that workflows ask for. First attempts in the direct lane may have begun already. */
export function createAttemptActivities({
  attempt,
  earlyAttempts,
}: Pick<ActivityDependencies, 'attempt' | 'earlyAttempts'>) {
  const tries = new LostTries();
  return {
    /** Makes one attempt in its lane. @throws if it could not be made */
    attemptDelivery: async (request: AttemptRequest): Promise<AttemptReport> =>
      request.isolated
        ? tries.counted(Context.current().info, (lost) =>
            attempt({ ...request, lost_tries: (request.lost_tries ?? 0) + lost }),
          )
        : earlyAttempts.attempt(callersRunId(), request),

    /** Makes the first attempts of a group side by side; `null` for one that could not be made. */
    attemptGroup: async (request: GroupAttemptRequest): Promise<(AttemptReport | null)[]> =>
      earlyAttempts.attemptGroup(callersRunId(), request),

    /** Makes attempts at released deliveries of a group in the direct lane. */
    async attemptReleased({
      attempts,
      timeout_ms,
      ...group
    }: ReleasedAttemptsRequest): Promise<ReleasedAttempts> {
      const reports = await directLane(attempts, async (one) => {
        const request = memberAttemptRequest(group, timeout_ms, one);
        return request ? attempt(request) : null;
      });
      return { attempts, reports };
    },
  };
}

function callersRunId(): string {
  return callerOf(Context.current().info).runId;
}
