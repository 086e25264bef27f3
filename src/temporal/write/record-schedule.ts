import {
  type Client,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import type { keepRecords } from '../../../workflows/index.js';
import { recordScheduleId } from '../../domain/ledger/workflow-ids.js';
import { isTemporalUnavailable } from '../errors.js';

export interface RecordScheduleOptions {
  client: Client;
  /** Task queue of the workers that keep records. */
  taskQueue: string;
  /** Milliseconds; absent: nothing is logged. */
  intervalMs: number | undefined;
}

/**
 * How often it is tried in all. A server answers for a Schedule by a query to a worker of its own, which can stand
 * still while it is busy.
 */
const TRIES = 3;

/**
 * Makes the Schedule that keeps records, changes it if the interval is another one, or deletes it if nothing is to be
 * logged. It may be called any number of times, by several processes at once.
 */
export async function prepareRecordSchedule(options: RecordScheduleOptions): Promise<void> {
  for (let triesLeft = TRIES - 1; ; triesLeft -= 1) {
    try {
      await prepareOnce(options);
      return;
    } catch (error) {
      if (triesLeft === 0 || !isTemporalUnavailable(error)) throw error;
    }
  }
}

async function prepareOnce(options: RecordScheduleOptions): Promise<void> {
  const { client, taskQueue, intervalMs } = options;
  const scheduleId = recordScheduleId(taskQueue);
  const handle = client.schedule.getHandle(scheduleId);
  if (intervalMs === undefined) {
    await handle.delete().catch((error: unknown) => {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
    });
    return;
  }
  const schedule = {
    spec: { intervals: [{ every: intervalMs }] },
    // A run that is missed is made up for by the next one, and two at once would do the same work.
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1m' },
    action: {
      type: 'startWorkflow' as const,
      workflowType: 'keepRecords' as const,
      workflowId: scheduleId,
      taskQueue,
      args: [{}] as Parameters<typeof keepRecords>,
    },
  };
  try {
    await client.schedule.create<typeof keepRecords>({ scheduleId, ...schedule });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const { spec } = await handle.describe();
    if (spec.intervals?.length === 1 && spec.intervals[0]?.every === intervalMs) return;
    await handle.update<typeof keepRecords>(({ state }) => ({ ...schedule, state }));
  }
}
