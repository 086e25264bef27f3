import { UNITS } from '../../basics/duration.js';
import type { Timings } from '../../timings.js';
import { type FailingMark, type HeldBack, isOpen } from './circuit-breaker.js';
import { FailureCount } from './failure-count.js';

/** How many attempts at one endpoint a process has in flight at once. */
export const SLOTS = {
  /** Limit for an endpoint that has taken an attempt lately. */
  most: 64,
  /**
   * Limit for any other. Each attempt of a burst needs a connection of its own, which is much work on both sides; and
   * where it hangs, as many reach their time limit together.
   */
  first: 16,
  /** Limit while its circuit breaker is open. One of these attempts shows when the endpoint responds again. */
  fewest: 4,
  /** Time to wait for a slot that is likely to become free (ms). */
  waitMs: 1_000,
} as const;

/** How long a failure or a slow response is remembered, unless a quick success comes before, milliseconds. */
const REMEMBERED_MS = UNITS.m;
/** How long an attempt is thought to take at an endpoint that has not answered yet, milliseconds. */
const FIRST_GUESS_MS = 250;
/** An endpoint is silent while an attempt in flight has taken this many times the mean duration. */
const SILENT_AFTER_MEANS = 2;
/** The weight of the latest attempt in the mean duration. */
const LATEST_WEIGHT = 0.2;
/** A quick response takes at most this part of the time that makes a slow one. */
const QUICK = 4;

export interface ConditionSettings {
  /**
   * A response that takes so long is slow, milliseconds. One that takes a quarter of it is quick: it shows that this
   * process is not what is slow. From what lies between the two nothing is concluded; if they were one, a busy process
   * would blame half of the endpoints.
   */
  slowMs: number;
  timings: Timings;
}

/** An attempt in flight. */
export interface AttemptInFlight {
  /** Milliseconds since the epoch. */
  readonly began: number;
}

/**
 * State of one endpoint as one process has seen it, beside its circuit breaker, which is stored with the endpoint: in
 * which queue its attempts are made, how many at once, and how many have failed. Where an endpoint hangs, it takes no
 * connections and no time from others, not even from one at the same host. It is a guess that costs nothing, not a
 * record. Times are milliseconds since the epoch.
 */
export class EndpointCondition {
  /** The most in flight: fewer than usual if the endpoint's owner says so. */
  most: number = SLOTS.most;
  /**
   * Waiters for a slot, in the order of arrival: a library queue cannot wake as many as fit a limit that changes
   * between two attempts.
   */
  readonly waiting = new Set<() => void>();
  private readonly settings: ConditionSettings;
  /** The oldest first. */
  private readonly inFlight = new Set<AttemptInFlight>();
  /** When the latest attempts began and ended that have succeeded. */
  private readonly success = { began: 0, ended: Number.NEGATIVE_INFINITY };
  private meanMs = FIRST_GUESS_MS;
  private unhealthyUntil = 0;
  /**
   * Time of the next place in the rounds of retries. Not a queue: those that wait are workflows, which retry by timer.
   */
  private askAgainAt = 0;
  /** Its latest failures in a row, as far as this process has seen them. */
  private counted: FailureCount | undefined;

  constructor(settings: ConditionSettings) {
    this.settings = settings;
  }

  /**
   * Whether its attempts belong in the isolated queue: it fails, is or recently was slow, or is saturated, so that
   * further attempts would wait for long.
   *
   * @param mark as stored with the endpoint @param quickSince see {@link isSlow}
   */
  isTroubled(mark: FailingMark | undefined, quickSince: number, now: number): boolean {
    return (
      mark !== undefined ||
      this.unhealthyUntil > now ||
      this.isSaturated(mark, now) ||
      this.hangs(quickSince, now)
    );
  }

  /**
   * Attempts that may be begun now.
   *
   * @param isChosen a person or a release, which has a rate of its own, asks for them: they heed the most alone
   */
  freeSlots(mark: FailingMark | undefined, now: number, isChosen = false): number {
    return (isChosen ? this.most : this.slots(mark, now)) - this.inFlight.size;
  }

  /** How long one more would have to wait, if all slots are taken. Milliseconds. */
  expectedMs(mark: FailingMark | undefined, now: number): number {
    const rounds = (this.waiting.size + 1) / this.slots(mark, now);
    // Attempts at a silent endpoint began at about the same time, so their slots become free together.
    return this.estimateMs(now) * (this.isSilent(now) ? Math.max(rounds, 1) : rounds);
  }

  /** Deliveries without a slot retry in rounds, each as large as the slot limit. Each call reserves a place. */
  busy(mark: FailingMark | undefined, now: number): HeldBack {
    const { slots_ask_ms, slots_ask_silent_ms, slots_ask_at_last_ms } = this.settings.timings;
    const estimate = Math.max(this.estimateMs(now), 1);
    const isSilent = this.isSilent(now);
    const roundMs = isSilent ? Math.max(2 * estimate, slots_ask_silent_ms) : Math.max(estimate, slots_ask_ms);
    const inRound = this.slots(mark, now) * (isSilent ? 1 : Math.floor(roundMs / estimate));
    const at = Math.max(this.askAgainAt, now + roundMs);
    this.askAgainAt = Math.min(at + roundMs / inRound, now + slots_ask_at_last_ms + roundMs);
    const rounds = Math.max(Math.floor((at - now) / roundMs), 1);
    const look_again_ms = Math.ceil(Math.min(rounds * roundMs, slots_ask_at_last_ms));
    const allowed = this.most < SLOTS.most && { most: this.most };
    const in_flight = this.inFlight.size;
    return { kind: 'not_attempted', endpoint: 'busy', in_flight, ...allowed, look_again_ms };
  }

  /** The same, if a slot would have to be waited for too long. */
  refusal(mark: FailingMark | undefined, now: number): HeldBack | undefined {
    const isFull = this.freeSlots(mark, now) <= 0 && this.expectedMs(mark, now) > SLOTS.waitMs;
    return isFull ? this.busy(mark, now) : undefined;
  }

  begin(now: number): AttemptInFlight {
    const attempt = { began: now };
    this.inFlight.add(attempt);
    return attempt;
  }

  /**
   * @param taken whether the endpoint took the attempt
   * @param quickSince see {@link isSlow}
   * @returns whether it was answered quickly and well
   */
  end(attempt: AttemptInFlight, taken: boolean, quickSince: number, now: number): boolean {
    const { slowMs } = this.settings;
    const took = now - attempt.began;
    this.inFlight.delete(attempt);
    this.meanMs += LATEST_WEIGHT * (took - this.meanMs);
    const isWell = taken && !this.isSlow(attempt, quickSince, now);
    if (!this.isPast(attempt.began)) this.unhealthyUntil = isWell ? 0 : now + REMEMBERED_MS;
    if (taken) this.success.ended = now;
    if (taken) this.success.began = Math.max(this.success.began, attempt.began);
    return taken && took < slowMs / QUICK;
  }

  /**
   * Counts a failure, unless it is past.
   *
   * @param began when the attempt began
   * @param isMarked whether it found the endpoint marked as failing
   * @returns the count; `undefined` if it does not count
   */
  failed(
    said: string,
    attempt: string | undefined,
    began: number,
    isMarked: boolean,
    now: number,
  ): FailureCount | undefined {
    if (this.isPast(began)) return undefined;
    if (this.failures?.isEndedBy(began, isMarked)) this.failures.end();
    const failures = this.failures ?? new FailureCount(now);
    failures.add(said, attempt, now);
    this.counted = failures;
    return failures;
  }

  /** Notes a success. @param began when the attempt began @returns the failures before it, if there were any */
  succeeded(began: number): FailureCount | undefined {
    const { failures } = this;
    this.success.began = Math.max(this.success.began, began);
    failures?.end();
    return failures;
  }

  /** No attempt was made of one that began. */
  giveBack(attempt: AttemptInFlight): void {
    this.inFlight.delete(attempt);
  }

  /** How many may be in flight now, unless they are chosen. */
  private slots(mark: FailingMark | undefined, now: number): number {
    const isWell = now - this.success.ended < this.settings.timings.slots_rested_ms;
    const usual = isWell ? SLOTS.most : SLOTS.first;
    return Math.min(isOpen(mark, now) ? SLOTS.fewest : usual, this.most);
  }

  /** Failures since the latest success; `undefined` if this process knows of none. */
  private get failures(): FailureCount | undefined {
    return this.counted?.isOver ? undefined : this.counted;
  }

  /**
   * An attempt that began before one that has succeeded says little of the endpoint as it is now: many may time out
   * just after its return.
   */
  private isPast(began: number): boolean {
    return began < this.success.began;
  }

  /**
   * Whether an attempt has taken long, and its endpoint is to blame: one that began later was answered quickly. Where
   * everything is slow, this process or its network is, and there is nobody to be spared.
   *
   * @param quickSince when the latest attempt began, at any endpoint, that was answered quickly
   */
  private isSlow({ began }: AttemptInFlight, quickSince: number, now: number): boolean {
    return now - began >= this.settings.slowMs && quickSince > began;
  }

  /** Some of what it answers may be quick while it hangs on the rest. */
  private hangs(quickSince: number, now: number): boolean {
    const slow = [...this.inFlight].filter((attempt) => this.isSlow(attempt, quickSince, now));
    return slow.length > SLOTS.fewest || slow.some(({ began }) => !this.isPast(began));
  }

  private isSaturated(mark: FailingMark | undefined, now: number): boolean {
    if (this.freeSlots(mark, now) > 0) return false;
    return this.silentMs(now) >= this.settings.slowMs / QUICK || this.expectedMs(mark, now) > SLOTS.waitMs;
  }

  /** How long the oldest attempt in flight has been waiting for its response. */
  private silentMs(now: number): number {
    const [oldest] = this.inFlight;
    return oldest ? now - oldest.began : 0;
  }

  /** An endpoint that has been silent for long may stay silent for as long again. */
  private isSilent(now: number): boolean {
    return this.silentMs(now) > SILENT_AFTER_MEANS * this.meanMs;
  }

  /** How long an attempt takes: the mean, or longer if one in flight has been waiting for longer. */
  private estimateMs(now: number): number {
    return Math.max(this.meanMs, this.silentMs(now));
  }
}
