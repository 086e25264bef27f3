import { UNITS } from '../basics/duration.js';
import type { LostNumbers } from './lost-numbers.js';
import type { NumberRange } from './ranges.js';

/** How numbers are given out. */
export const SEQUENCE = {
  /**
   * A block's size when a process takes its first for an account: most accounts are quiet, and what is left of a block
   * becomes void.
   */
  firstBlock: 4,
  /** Each further block is twice as large as the one before, up to this. */
  largestBlock: 512,
  /** Time after which the rest of a block that a process does not use is declared void, milliseconds. */
  idleBlockMs: UNITS.h,
  /**
   * A process may use its blocks for so long after it last said that it is there, milliseconds; also after it was
   * stopped (SIGSTOP) and goes on.
   */
  holderLeaseMs: 10 * UNITS.m,
  /** How often it says so, milliseconds. */
  renewEveryMs: UNITS.m,
  /**
   * How long after the end of a process nobody can use its numbers any more, milliseconds: an insert whose end nobody
   * knows is under way for seconds.
   */
  settleAfterMs: UNITS.h,
} as const;

/** Numbers that a process may give to events of an account. */
export interface Block extends NumberRange {
  /** The process. */
  holder: string;
}

/** Numbers that no event has, nor will have. */
export interface VoidNumbers extends NumberRange {
  account_id: string;
  /** When they were declared void. ISO 8601, UTC. */
  at: string;
}

/** Numbers that a process has for itself. */
export interface Reserved extends NumberRange {
  /** Numbers below them that may have been given, as was noticed now; absent: all that were given are known. */
  lost?: LostNumbers;
}

/** Blocks and voids of an account, as they are kept. */
export interface Blocks {
  /** Reserves the next numbers: they are above all that were given. */
  reserve(accountId: string, holder: string, size: number): Promise<Reserved>;
  /**
   * Gives a block back.
   *
   * @param left numbers that no event has: they are declared void
   * @param unsure has all numbers of which it is not known whether events have them: it stays with the holder until
   * that is settled. One range, so that what is kept does not grow with what goes wrong
   */
  release(
    accountId: string,
    block: Block,
    left: readonly NumberRange[],
    unsure: NumberRange | undefined,
  ): Promise<void>;
  /** Says that a process is there. @param until when it uses its blocks at the latest */
  hold(holder: string, until: Date): Promise<void>;
}
