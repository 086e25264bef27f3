import { UNITS } from '../basics/duration.js';
import type { Timings } from '../timings.js';
import { FailureCount } from './failure-count.js';
import type { FailingMark } from './incident.js';
import { MAX_JITTER } from './retry-schedule.js';

/** How many attempts at one endpoint a process has in flight at once. */
export const SLOTS = {
  /** While the endpoint answers well. */
  most: 64,
  /**
   * The first ones at an endpoint that was not attempted lately; each success allows one more, so they double with each
   * round of responses (a slow start, as TCP has one: RFC 5681, section 3.1). Each attempt of a burst needs a
   * connection of its own, which is much work on both sides.
   */
  first: 16,
  /** While it takes attempts, but slowly. */
  mostWhileSlow: 32,
  /** The fewest in flight, however badly the endpoint answers: one of them shows when it answers again. */
  fewest: 4,
  /** How long a slot is waited for, if it is likely to be free by then. Milliseconds. */
  waitMs: 1_000,
} as const;

/** How long a failure or a slow response is remembered, unless a quick success comes before, milliseconds. */
const REMEMBERED_MS = UNITS.m;
/**
 * When a probe is due, the mark is renewed and the probe is made. Within this time, milliseconds, or deliveries go on:
 * a busy machine needs some of it, and all that came meanwhile would be attempted.
 */
const RENEWAL_MS = 30_000;
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
  /** The wait before the first of an incident's later probes, milliseconds. */
  probeIntervalMs: number;
  timings: Timings;
}

/** Why an attempt waits, and for how long. A Temporal payload. */
export interface HeldBack {
  kind: 'not_attempted';
  endpoint: 'failing' | 'busy';
  /** Failing: since when. ISO 8601, UTC. */
  since?: string;
  /** Busy: attempts that wait for its response. */
  in_flight?: number;
  /** Busy: as many as its owner allows at once, in all processes. */
  most?: number;
  /** Milliseconds. */
  look_again_ms: number;
}

/** An attempt in flight. */
export interface AttemptInFlight {
  /** Milliseconds since the epoch. */
  readonly began: number;
}

/**
 * State of one endpoint as one process has seen it, and the decisions that follow from it: in which queue its attempts
 * are made, how many at once, which of them wait, and when its failures are reported. Where an endpoint hangs, it takes
 * no connections and no time from others, not even from one at the same host. It is a guess that costs nothing, not a
 * record. Times are milliseconds since the epoch.
 */
export class EndpointCondition {
  /** The most in flight: fewer than usual if the endpoint's owner says so. */
  most: number = SLOTS.most;
  /** Called when a slot may be free, in the order in which they came. */
  readonly waiting = new Set<() => void>();
  private readonly settings: ConditionSettings;
  /** The oldest first. */
  private readonly inFlight = new Set<AttemptInFlight>();
  /**
   * How many may be in flight. A failure halves it, and a success raises it by one: it doubles with each round of
   * answers.
   */
  private limit: number = SLOTS.first;
  /** Attempts that began before this no longer change the limit: they have lowered it already. */
  private loweredAt = 0;
  /** When its latest attempt ended. */
  private idleSince = 0;
  private meanMs = FIRST_GUESS_MS;
  private unhealthyUntil = 0;
  /** When those that found no slot ask again, the latest of them, and how many more may at that time. */
  private askAgainAt = 0;
  private leftInRound = 0;
  /** When the latest attempt began that has succeeded. */
  private succeededSince = 0;
  /** Its latest failures in a row, as far as this process has seen them. */
  private counted: FailureCount | undefined;

  constructor(settings: ConditionSettings) {
    this.settings = settings;
  }

  /**
   * Whether its attempts are kept out of the direct lane: it fails, is slow or has been lately, or is saturated, so
   * that further attempts would have to queue for long.
   *
   * @param mark as stored with the endpoint @param quickSince see {@link isSlow}
   */
  isTroubled(mark: FailingMark | undefined, quickSince: number, now: number): boolean {
    return (
      mark !== undefined || this.unhealthyUntil > now || this.isSaturated(now) || this.hangs(quickSince, now)
    );
  }

  /**
   * Why its first attempts wait, if they do: it keeps failing. A probe that succeeds ends that, and so does a time of
   * {@link RENEWAL_MS} without a probe.
   *
   * @param mark as stored with the endpoint; until it says so, this process goes by the failures that it has seen
   * @param random from 0 up to 1
   */
  heldBack(mark: FailingMark | undefined, now: number, random: number): HeldBack | undefined {
    const endOf = ({ backoff_until = '' }: FailingMark) => Date.parse(backoff_until) + RENEWAL_MS;
    const marks = [mark, this.failures?.mark(this.settings, now)];
    const failing = marks.find((one) => one && endOf(one) > now);
    if (!failing) return undefined;
    const wait = endOf(failing) - now + this.settings.timings.missed_release_ms;
    return {
      kind: 'not_attempted',
      endpoint: 'failing',
      since: failing.since,
      look_again_ms: Math.ceil(wait * (1 + MAX_JITTER * random)),
    };
  }

  /**
   * Attempts that may be begun now.
   *
   * @param isChosen a person or a release, which has a rate of its own, asks for them: they heed the most alone
   */
  freeSlots(isChosen = false): number {
    return (isChosen ? this.most : this.slots) - this.inFlight.size;
  }

  /** How long one more would have to wait, if all slots are taken. Milliseconds. */
  expectedMs(now: number): number {
    const isSilent = this.isSilent(now);
    const rounds = roundsUntil(this.waiting.size + 1, this.slots, isSilent ? this.slots : this.most);
    // What one endpoint holds up began at about the same time, so no slot is free much sooner than all of them.
    return this.estimateMs(now) * (isSilent ? Math.max(rounds, 1) : rounds);
  }

  /**
   * There is no slot. Those who are told so ask again in rounds, as many in each as there are slots, so that those of a
   * group come together: each call gives away a place.
   */
  busy(now: number): HeldBack {
    const { slots_ask_ms, slots_ask_silent_ms, slots_ask_at_last_ms } = this.settings.timings;
    const estimate = this.estimateMs(now);
    const roundMs = this.isSilent(now)
      ? Math.max(2 * estimate, slots_ask_silent_ms)
      : Math.max(estimate, slots_ask_ms);
    if (this.leftInRound === 0 || this.askAgainAt <= now) {
      this.askAgainAt = Math.min(Math.max(this.askAgainAt, now) + roundMs, now + slots_ask_at_last_ms);
      // If the endpoint answers until then, there are twice as many slots; where its owner has limited them, each is
      // used as often as there is time for in a round.
      this.leftInRound = Math.max(
        Math.min(2 * this.slots, this.most),
        this.most < SLOTS.most ? Math.floor((this.slots * roundMs) / Math.max(estimate, 1)) : 0,
      );
    }
    this.leftInRound -= 1;
    const look_again_ms = Math.ceil(this.askAgainAt - now);
    const allowed = this.most < SLOTS.most && { most: this.most };
    const in_flight = this.inFlight.size;
    return { kind: 'not_attempted', endpoint: 'busy', in_flight, ...allowed, look_again_ms };
  }

  /** The same, if a slot would have to be waited for too long. */
  refusal(now: number): HeldBack | undefined {
    return this.freeSlots() <= 0 && this.expectedMs(now) > SLOTS.waitMs ? this.busy(now) : undefined;
  }

  begin(now: number): AttemptInFlight {
    const isRested =
      this.inFlight.size === 0 && now - this.idleSince >= this.settings.timings.slots_rested_ms;
    if (isRested) this.limit = Math.min(this.limit, SLOTS.first);
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
    this.idleSince = now;
    this.meanMs += LATEST_WEIGHT * (took - this.meanMs);
    if (taken) {
      this.limit = Math.min(this.limit + 1, took < slowMs ? SLOTS.most : SLOTS.mostWhileSlow);
    } else if (attempt.began >= this.loweredAt) {
      this.limit = Math.max(Math.floor(this.limit / 2), SLOTS.fewest);
      this.loweredAt = now;
    }
    const isWell = taken && !this.isSlow(attempt, quickSince, now);
    if (!this.isPast(attempt.began)) this.unhealthyUntil = isWell ? 0 : now + REMEMBERED_MS;
    if (taken) this.succeededSince = Math.max(this.succeededSince, attempt.began);
    return taken && took < slowMs / QUICK;
  }

  /**
   * Counts a failure, unless it is past.
   *
   * @param began when the attempt began
   * @returns the count; `undefined` if it does not count
   */
  failed(said: string, attempt: string | undefined, began: number, now: number): FailureCount | undefined {
    if (this.isPast(began)) return undefined;
    const failures = this.failures ?? new FailureCount(now);
    failures.add(said, attempt, now);
    this.counted = failures;
    return failures;
  }

  /** Notes a success. @param began when the attempt began @returns the failures before it, if there were any */
  succeeded(began: number): FailureCount | undefined {
    const { failures } = this;
    this.succeededSince = Math.max(this.succeededSince, began);
    failures?.end();
    return failures;
  }

  /** No attempt was made of one that began. */
  giveBack(attempt: AttemptInFlight): void {
    this.inFlight.delete(attempt);
  }

  /** How many may be in flight now, whoever asks. */
  private get slots(): number {
    return Math.min(this.limit, this.most);
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
    return began < this.succeededSince;
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

  private isSaturated(now: number): boolean {
    if (this.freeSlots() > 0) return false;
    return this.silentMs(now) >= this.settings.slowMs / QUICK || this.expectedMs(now) > SLOTS.waitMs;
  }

  /** How long the oldest attempt in flight has been waiting for its response. */
  private silentMs(now: number): number {
    const [oldest] = this.inFlight;
    return oldest ? now - oldest.began : 0;
  }

  /** Whoever has been silent for long may be so for as long again. */
  private isSilent(now: number): boolean {
    return this.silentMs(now) > SILENT_AFTER_MEANS * this.meanMs;
  }

  /** How long an attempt takes: the mean, or longer if one in flight has been waiting for longer. */
  private estimateMs(now: number): number {
    return Math.max(this.meanMs, this.silentMs(now));
  }
}

/**
 * How many rounds of responses it takes until so many have had a slot, if each round has twice as many slots as the one
 * before, up to the most.
 */
function roundsUntil(waiting: number, slots: number, most: number): number {
  if (waiting <= slots || slots >= most) return waiting / slots;
  return 1 + roundsUntil(waiting - slots, Math.min(2 * slots, most), most);
}
