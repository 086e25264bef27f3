import {
  type Client,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import type { archiveDeliveries } from '../../../../workflows/index.js';
import { archiveScheduleId } from '../../../domain/ledger/workflow-ids.js';
import { isTemporalUnavailable } from '../../errors.js';

export interface ArchiveScheduleOptions {
  client: Client;
  /** Of the workers whose executions are archived. */
  taskQueue: string;
  /** Milliseconds; absent: nothing is archived. */
  intervalMs: number | undefined;
  /** How long Temporal keeps closed executions, days. */
  retentionDays: number;
}

const DAY_MS = 24 * 3_600_000;

/**
 * How often it is tried in all. A server answers for a Schedule by a query to a worker of its own, which can stand
 * still while it is busy.
 */
const TRIES = 3;

/**
 * Makes the Schedule that archives, changes it if the interval is another one, or deletes it if nothing is to be
 * archived. It may be called any number of times, by several processes at once.
 */
export async function prepareArchiveSchedule(options: ArchiveScheduleOptions): Promise<void> {
  for (let triesLeft = TRIES - 1; ; triesLeft -= 1) {
    try {
      await prepareOnce(options);
      return;
    } catch (error) {
      if (triesLeft === 0 || !isTemporalUnavailable(error)) throw error;
    }
  }
}

async function prepareOnce(options: ArchiveScheduleOptions): Promise<void> {
  const { client, taskQueue, intervalMs, retentionDays } = options;
  const scheduleId = archiveScheduleId(taskQueue);
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
      workflowType: 'archiveDeliveries' as const,
      workflowId: scheduleId,
      taskQueue,
      args: [{ reach_ms: retentionDays * DAY_MS }] as Parameters<typeof archiveDeliveries>,
    },
  };
  try {
    await client.schedule.create<typeof archiveDeliveries>({ scheduleId, ...schedule });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const { spec } = await handle.describe();
    if (spec.intervals?.length === 1 && spec.intervals[0]?.every === intervalMs) return;
    await handle.update<typeof archiveDeliveries>(({ state }) => ({ ...schedule, state }));
  }
}
