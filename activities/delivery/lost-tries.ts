import type { Info } from '@temporalio/activity';
import { dropOldest } from '../../src/domain/basics/bounded-memory.js';
import { callerOf } from './caller.js';

/** Activities that have thrown and are tried again, the latest ones. */
const MAX_REMEMBERED = 10_000;

/**
 * Counts the tries of an activity whose end nobody knows. Temporal tries an activity again if its process died, or stood still for too long:
 * that try may have sent its requests. One that threw has sent nothing, and is not counted if it was made in this process.
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
