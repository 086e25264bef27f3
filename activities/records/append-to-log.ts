import { Context } from '@temporalio/activity';
import { sharedNow } from '../../src/domain/time/shared-time.js';
import { whileBeating } from '../while-beating.js';

/** The log that proves what was recorded. */
export interface LogWrites {
  /**
   * Appends changes that are not in the log, as far as it is known how they ended, some at once.
   *
   * @returns how many; 0: that was all
   */
  appendChanges(): Promise<number>;
  /**
   * Looks at all of the log, if it is time to: when the process begins to sign, and once a day.
   *
   * @param until when to stop, milliseconds since the epoch @returns whether nothing is left to be looked at
   * @throws LogAlteredError
   */
  audit(until: number): Promise<boolean>;
  /**
   * Signs a checkpoint of all that was appended.
   *
   * @param last the signed note that Temporal knows as the last one @returns how many records the log has, and the
   * signed note
   * @throws LogAlteredError if the log does not continue what was signed before
   * @throws LogCopyError
   */
  publish(last: string | undefined): Promise<{ size: number; checkpoint: string }>;
}

/** A part of an append ends after this, even if more is to be appended. Milliseconds. */
const PART_TIME_MS = 20_000;

/** Result of a part of an append. */
export interface LogPart {
  /** Changes that were appended. */
  appended: number;
  /** Records that the log has, as it was signed now; 0 if nothing was signed yet. */
  size: number;
  /** Nothing is left but what has just been recorded. */
  is_last: boolean;
  /** The signed note of the last checkpoint; absent if the log is still looked at, and nothing was signed. */
  checkpoint?: string;
}

/** Request for an append. A Temporal payload. */
export interface LogRequest {
  /** The signed note of the last checkpoint, as far as Temporal knows. */
  checkpoint?: string;
}

/**
 * Appends to the log what was changed since the last run, looks at the log if it is time to, and signs a checkpoint of
 * that and of what was recorded. Repeated after a crash, it goes on from what was appended.
 */
export function createAppendToLog({ log }: { log: LogWrites }) {
  return function appendToLog({ checkpoint: known }: LogRequest): Promise<LogPart> {
    return whileBeating(async () => {
      const { cancellationSignal } = Context.current();
      const deadline = sharedNow() + PART_TIME_MS;
      let appended = 0;
      let is_last = false;
      while (!is_last && sharedNow() < deadline) {
        cancellationSignal.throwIfAborted();
        const some = await log.appendChanges();
        appended += some;
        is_last = some === 0;
      }
      if (!(await log.audit(deadline))) return { appended, size: 0, is_last: false };
      const { size, checkpoint } = await log.publish(known);
      return { appended, size, is_last, checkpoint };
    });
  };
}
