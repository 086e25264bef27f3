import { Context } from '@temporalio/activity';
import { FIRST_TURNS, type FirstAttempts, type ToldDelivery, toldOf } from '../../src/domain/archive/told.js';
import type { AttemptReport } from '../../src/domain/attempt/attempt-report.js';
import { deliveryId } from '../../src/domain/basics/delivery-id.js';
import { withTimeout } from '../../src/domain/basics/with-timeout.js';
import { attemptRequest } from '../../src/domain/delivery/attempt-request.js';
import { withoutAnswer } from '../../src/domain/delivery/carried.js';
import {
  GroupMachine,
  type LiveGroup,
  type MemberAttempt,
  type ReleasedAttempts,
} from '../../src/domain/delivery/delivery-group.js';
import type { ActivityDependencies, Asked, FirstAttemptsRequest, ReleasedAttemptsRequest } from '../ports.js';
import { timed } from './hand-over.js';
import { createKeepRows } from './keep-rows.js';
import { lostTasks } from './lost-tries.js';
import { directLane } from './side-by-side.js';

/** Deliveries whose first attempt lasts longer have a row before it has ended, milliseconds. */
const SHOWN_AFTER_MS = 250;
/** The workflow task waits so long for rows to be kept, milliseconds; then the workflow has them kept. */
const KEPT_WITHIN_MS = 3_000;

type Reports = (AttemptReport | null)[];

/** The attempts that workflows ask for in the direct lane. First attempts may have begun already. */
export function createAttemptActivities({
  attempt,
  earlyAttempts,
  ledger,
  rows,
  ...others
}: Pick<ActivityDependencies, 'attempt' | 'earlyAttempts' | 'ledger' | 'rows' | 'endpoints' | 'ends'>) {
  const keepRows = createKeepRows({ rows, ...others });

  /** Makes attempts of a group that nothing is recorded of. @returns reports by the deliveries of the group */
  async function makeOthers(
    group: LiveGroup,
    lost_tries: number,
    recorded: FirstAttempts['recorded'] = [],
  ): Promise<Reports> {
    const isRecorded = new Set(recorded.map(({ index }) => index));
    const { events, deliveries, attempt_timeout_ms: timeout_ms } = group;
    return directLane([...deliveries.keys()], async (index) => {
      const first = { index, number: 1, trigger: 'schedule', lost_tries } as const;
      const request = isRecorded.has(index)
        ? undefined
        : attemptRequest({ events, deliveries }, timeout_ms, first);
      return request ? attempt(request) : null;
    });
  }

  /** What earlier tasks have recorded. */
  async function recordedOf({ group, run }: FirstAttemptsRequest): Promise<FirstAttempts['recorded']> {
    const keys = group.deliveries.map(({ event, endpoint_id }) => ({
      event_id: group.events[event]?.event_id ?? '',
      endpoint_id,
    }));
    const recorded = await rows.recorded(run.run_id, keys);
    return keys.flatMap((key, index) => {
      const snapshot = recorded.get(deliveryId(key));
      return snapshot ? [{ index, snapshot }] : [];
    });
  }

  return {
    /** Makes the first attempts of an execution side by side, and keeps their rows. */
    async attemptFirst(request: FirstAttemptsRequest & Asked): Promise<FirstAttempts> {
      const { group, run, began, asked_at, lost_tries = 0 } = request;
      const { events, deliveries, attempt_timeout_ms: timeout_ms } = group;
      // Where that cannot be asked, an attempt is made again: it is not lost, and says that another may have arrived.
      const recorded = lost_tries > 0 ? await recordedOf(request).catch(() => []) : [];
      const machine = new GroupMachine(group, began);
      for (const { index, snapshot } of recorded ?? []) machine.adopt(index, snapshot);
      const tell = (turn: number, now: number, isNew: boolean) => {
        const told = deliveries.flatMap((_, index): ToldDelivery[] => {
          const one = toldOf(group, machine, index);
          return one ? [structuredClone(one)] : [];
        });
        const at = new Date(now).toISOString();
        return keepRows({ run, turn, at, deliveries: told }, isNew);
      };
      let isNew = lost_tries === 0;
      let shown: Promise<void> | undefined;
      const showing = setTimeout(() => {
        shown = tell(1, began, isNew).catch(() => {});
        isNew = false;
      }, SHOWN_AFTER_MS);
      const make = () =>
        lost_tries > 0
          ? makeOthers(group, lost_tries, recorded)
          : earlyAttempts.attempt(run.run_id, { events, deliveries, timeout_ms });
      const reports = await timed(asked_at, make).finally(() => clearTimeout(showing));
      const first: MemberAttempt[] = machine.firstAttempts;
      machine.settle(
        first,
        first.map(({ index }) => reports[index]),
        began,
      );
      await shown;
      const keeping = tell(FIRST_TURNS, machine.settledAt, isNew);
      const kept = await withTimeout(KEPT_WITHIN_MS, keeping).then(
        () => true,
        () => false,
      );
      return {
        // What rows say need not stand in the history.
        reports: kept ? reports.map((report) => report && withoutAnswer(report)) : reports,
        ...(recorded && recorded.length > 0 && { recorded }),
        kept,
      };
    },

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

    /** Keeps rows of deliveries by what their execution tells. */
    keepRows,
  };
}
