import type { NumberRange } from './ranges.js';

/** How far numbers go on above what is known to have been given, when that is not all. */
export const LEAP = {
  /** So far at least: more than all processes together hold, and give within a minute. */
  least: 1_000_000,
  /** And so far for each millisecond of which nothing is known: no account posts more events than that, for long. */
  perMs: 1,
} as const;

/** Numbers that may have been given to events, of which nothing is kept. */
export interface LostNumbers extends NumberRange {
  /** When that was noticed. ISO 8601, UTC. */
  at: string;
  /** How; human-readable. */
  why: string;
}

/** A restore: MongoDB was found to be older than what is stored outside of it. */
export interface Restore {
  id: string;
  /** When that was noticed. */
  at: Date;
  /** The last time of which something is kept: numbers were given after it that nobody knows. */
  since: Date;
  /** How it was noticed; human-readable. */
  why: string;
}

/** How far the next number of an account is above those that are known. */
export function leapAfter(restores: readonly Pick<Restore, 'at' | 'since'>[]): number {
  const unknownMs = restores.map(({ at, since }) => at.getTime() - since.getTime());
  return LEAP.least + LEAP.perMs * Math.max(0, ...unknownMs);
}
