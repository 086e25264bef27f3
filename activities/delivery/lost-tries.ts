import type { Info } from '@temporalio/activity';
import { dropOldest } from '../../src/domain/basics/bounded-memory.js';
import { withTimeout } from '../../src/domain/basics/with-timeout.js';
import { callerOf } from './caller.js';

/** Temporal's count of the tries of workflow tasks. */
export interface TaskTries {
  /** Which try of its workflow task an execution is in; 1 for the first, and if it is in none. */
  taskAttempt(workflowId: string, runId: string): Promise<number>;
}

/** Activities that have thrown and are tried again, the latest ones. */
const MAX_REMEMBERED = 10_000;

/**
 * Temporal gives a workflow task that does not end to another process after 10 s: its default, and nothing here sets
 * another. The clocks of Temporal and MongoDB may differ by the rest. Milliseconds.
 */
const TASK_LOST_MS = 5_000;
/** The attempts do not wait longer for that, milliseconds: Temporal may be slow just then. */
const ASK_LIMIT_MS = 1_000;

/**
 * How many earlier workflow tasks may have made the attempts of a release. To be asked in the task itself.
 *
 * @param waitedMs how long ago the release was sent: no task was lost if that was a moment, so Temporal is not asked
 */
export async function lostTasks(
  ledger: TaskTries,
  info: Info,
  waitedMs: number | undefined,
): Promise<number> {
  if (waitedMs === undefined || Math.abs(waitedMs) < TASK_LOST_MS) return 0;
  const { workflowId, runId } = callerOf(info);
  // If nobody says so in time, one may have been lost.
  const attempt = await withTimeout(ASK_LIMIT_MS, ledger.taskAttempt(workflowId, runId)).catch(() => 2);
  return attempt - 1;
}

/**
 * Counts the tries of an activity whose end nobody knows. Temporal tries an activity again if its process died, or
 * stood still for too long: that try may have sent its requests. One that threw has sent nothing, and is not counted if
 * it was made in this process.
 */
export class LostTries {
  private readonly thrown = new Map<string, number>();

  /** Makes attempts, given how many tries of them were lost. */
  async counted<T>(info: Info, make: (lost: number) => Promise<T>): Promise<T> {
    const { attempt, activityId } = info;
    const name = `${callerOf(info).runId} ${activityId}`;
    const thrown = this.thrown.get(name) ?? 0;
    try {
      const made = await make(Math.max(attempt - 1 - thrown, 0));
      this.thrown.delete(name);
      return made;
    } catch (error) {
      this.thrown.set(name, thrown + 1);
      dropOldest(this.thrown, MAX_REMEMBERED);
      throw error;
    }
  }
}
