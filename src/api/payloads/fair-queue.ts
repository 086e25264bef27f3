import { LRUCache } from 'lru-cache';
import type { Owner } from '../../domain/access/owner.js';
import { roomFor } from '../../domain/basics/bounded-memory.js';

/**
 * Queues of work: none waits for another. `schema` is checking a schema that somebody registers, `quick` a payload that
 * takes little time, `long` any other; `spent` a payload of a platform that has used {@link SPENT_MS} lately.
 */
export type Lane = 'schema' | 'quick' | 'long' | 'spent';

export interface Job {
  owner: Owner;
  lane: Exclude<Lane, 'spent'>;
  /** The most work that it can be. */
  steps: number;
}

/** How many of a lane run at once. */
export const LANES: Readonly<Record<Lane, number>> = { schema: 1, quick: 1, long: 2, spent: 1 };
/**
 * A platform, or an account without one, that has used so much lately does not take what others wait for, milliseconds:
 * a fifth of a thread for long.
 */
export const SPENT_MS = 3_000;
/** How many may wait, in all lanes. */
export const MAX_WAITING_PER_ACCOUNT = 100;
export const MAX_WAITING_PER_PLATFORM = 200;

/** Age at which use counts half, milliseconds. */
const HALF_LIFE_MS = 10_000;
/** Accounts and platforms whose use is remembered. */
const MAX_REMEMBERED = 20_000;

/**
 * The time that accounts and platforms have used lately: it halves every {@link HALF_LIFE_MS}. All times are in
 * milliseconds.
 */
export class RecentUse {
  private readonly used = new LRUCache<string, { ms: number; at: number }>(roomFor(MAX_REMEMBERED));

  add({ account, platform }: Owner, ms: number, now: number): void {
    for (const key of [`account ${account}`, `platform ${platform}`])
      this.used.set(key, { ms: this.of(key, now) + ms, at: now });
  }

  ofAccount({ account }: Owner, now: number): number {
    return this.of(`account ${account}`, now);
  }

  ofPlatform({ platform }: Owner, now: number): number {
    return this.of(`platform ${platform}`, now);
  }

  private of(key: string, now: number): number {
    const known = this.used.get(key);
    return known ? known.ms * 0.5 ** ((now - known.at) / HALF_LIFE_MS) : 0;
  }
}

/**
 * Decides which job is next. In each lane that is the one whose platform has used least time lately; of a platform's,
 * the one whose account has; of an account's, the one with the fewest steps; of equal ones, the first that came. A
 * platform has one job at a time in a lane, and one payload in all lanes when it has used much. Queues of libraries
 * order by a priority that a job brings along; here it changes while the job waits, with what others of its owner take.
 */
export class FairQueue<J extends Job> {
  private readonly waiting = new Set<J>();
  private readonly running = new Map<J, Lane>();
  private readonly use = new RecentUse();

  /** @returns `false` if too many of its account or platform wait already */
  push(job: J): boolean {
    const ofPlatform = [...this.waiting].filter(({ owner }) => owner.platform === job.owner.platform);
    const ofAccount = ofPlatform.filter(({ owner }) => owner.account === job.owner.account);
    if (ofAccount.length >= MAX_WAITING_PER_ACCOUNT || ofPlatform.length >= MAX_WAITING_PER_PLATFORM)
      return false;
    this.waiting.add(job);
    return true;
  }

  /** Takes the job that runs next. @returns `undefined` if none may now */
  next(now: number): J | undefined {
    let first: J | undefined;
    for (const job of this.waiting)
      if (this.mayRun(job, now) && (!first || this.compare(job, first, now) < 0)) first = job;
    if (!first) return undefined;
    this.waiting.delete(first);
    this.running.set(first, this.laneFor(first, now));
    return first;
  }

  /** Whether a job that {@link next} gave, and that has not ended, is one of those that give way to everything else. */
  isSpent(job: J): boolean {
    return this.running.get(job) === 'spent';
  }

  /** For a job that {@link next} gave: it has ended. @param tookMs how long it ran */
  end(job: J, tookMs: number, now: number): void {
    this.running.delete(job);
    this.use.add(job.owner, tookMs, now);
  }

  /** Takes back a job that has not run. @returns whether it still waited */
  drop(job: J): boolean {
    return this.waiting.delete(job);
  }

  private mayRun(job: J, now: number): boolean {
    const lane = this.laneFor(job, now);
    const running = [...this.running];
    return (
      running.filter(([, other]) => other === lane).length < LANES[lane] &&
      !running.some(
        ([{ owner }, other]) =>
          owner.platform === job.owner.platform &&
          (other === lane || (lane === 'spent' && other !== 'schema')),
      )
    );
  }

  private laneFor({ lane, owner }: J, now: number): Lane {
    return lane !== 'schema' && this.use.ofPlatform(owner, now) >= SPENT_MS ? 'spent' : lane;
  }

  private compare(a: J, b: J, now: number): number {
    return (
      this.use.ofPlatform(a.owner, now) - this.use.ofPlatform(b.owner, now) ||
      this.use.ofAccount(a.owner, now) - this.use.ofAccount(b.owner, now) ||
      a.steps - b.steps
    );
  }
}
