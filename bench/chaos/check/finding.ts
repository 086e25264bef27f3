import type { Collected, Disruption } from './collected.js';

/** The rules that a run is checked by. None may be broken once. */
export const RULES = {
  lost: 'an accepted event was not delivered where it should have been',
  stuck: 'something is open although nothing hinders it',
  twice: 'a producer that sent an event again got another one, or it was started twice',
  early: 'an attempt came before the schedule, its Retry-After or its event allowed it',
  order:
    'a delivery came before one in front of it, or its number is not as its producer posted, or one is left out',
  feed: 'a reader of the feed was not given an event, or in another order, or twice',
  clock: 'a time that Hookline tells is minutes from when it was',
  repeated: 'a delivery that had succeeded was sent again, and no fault was near',
  unrecorded: 'a receiver got a request that the record lacks, and no fault was near',
  invented: 'a view shows what nobody posted, or an attempt that no receiver saw',
  views: 'two views of one thing disagree',
  altered: 'a receiver got another body than was posted',
  unsigned: 'a signature is not valid',
  acts: 'a change says that something was done to a delivery, and its record does not',
  erased: 'something can be read after its erasure',
  log: 'checkpoints are not consistent, or a certificate does not hold',
} as const;

export type RuleName = keyof typeof RULES;

/** A rule that was broken, with what each view said. */
export interface Finding {
  rule: RuleName;
  /** Subject of the finding: the id of a delivery, an event or an account. */
  id: string;
  text: string;
}

/** A rule, or some of them that look at the same things. */
export type Check = (collected: Collected) => Finding[];

/**
 * Time after a fault, and after its backlog was accepted, in which work that was under way when it began may be
 * repeated: connections and workers are given up late.
 */
const AFTERMATH_MS = 30_000;
/** An attempt under way may have begun so long before the fault. */
const BEFORE_MS = 5_000;

/** Whether a fault may have hit what happened in a period. Milliseconds since the epoch. */
export function isNearFault(
  { disruptions }: Pick<Collected, 'disruptions'>,
  fromMs: number,
  toMs = fromMs,
): boolean {
  return disruptions.some((fault) => {
    const endMs = Math.max(fault.toMs, fault.calmMs ?? 0) + AFTERMATH_MS;
    return fromMs <= endMs && toMs >= fault.fromMs - BEFORE_MS;
  });
}

/** Notes of each fault when what had been posted by its end was accepted. */
export function withCalm({ disruptions, posted }: Pick<Collected, 'disruptions' | 'posted'>): Disruption[] {
  return disruptions.map((fault) => {
    const before = posted.filter(({ postedMs = 0 }) => postedMs <= fault.toMs);
    return {
      ...fault,
      calmMs: before.reduce((last, { acknowledgedMs = 0 }) => Math.max(last, acknowledgedMs), 0),
    };
  });
}
