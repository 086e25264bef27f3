import { dropOldest } from '../basics/bounded-memory.js';
import { TIMINGS, type Timings } from '../timings.js';

/** Attempts at one endpoint that a process has in flight at once, while the endpoint answers well. */
export const MOST_IN_FLIGHT = 64;
/**
 * The first ones at an endpoint that was not attempted lately; each success allows one more, so they double with each round of answers
 * (a slow start, as TCP has one: RFC 5681, section 3.1). Each attempt of a burst needs a connection of its own, which is much work on both sides.
 */
export const FIRST_IN_FLIGHT = 16;
/** While it takes attempts, but slowly. */
export const MOST_WHILE_SLOW = 32;
/** The fewest in flight, however badly the endpoint answers: one of them shows when it answers again. */
export const FEWEST_IN_FLIGHT = 4;
/** How long a slot is waited for, if it is likely to be free by then. Milliseconds. */
export const SLOT_WAIT_MS = 1_000;
/** If all slots are taken, one of them for so long, more attempts would only queue. Milliseconds. */
const CLOGGED_MS = 250;
/** How long an attempt is thought to take at an endpoint that has not answered yet, milliseconds. */
const FIRST_GUESS_MS = 250;
/** An endpoint is silent while an attempt in flight has taken this many times the mean duration. */
const SILENT_AFTER_MEANS = 2;
/** The weight of the latest attempt in the mean duration. */
const LATEST_WEIGHT = 0.2;
/** Endpoints that are remembered: those that were attempted last. */
const MAX_REMEMBERED = 10_000;

/** The right to make one attempt at an endpoint. */
export interface AttemptSlot {
  kind: 'slot';
  /** @param taken whether the endpoint took the attempt */
  free(taken: boolean): void;
}

/** No slot was free. */
export interface NoSlot {
  kind: 'full';
  /** How many attempts were in flight. */
  inFlight: number;
  /** When to ask again, milliseconds since the epoch: the same for as many as there are slots, later for the next ones. */
  askAgainAt: number;
}

interface EndpointState {
  /** Attempts in flight, by when they began, the oldest first. */
  inFlight: Set<{ began: number }>;
  /** How many may be in flight. */
  limit: number;
  /** When its latest attempt ended. */
  restingSince: number;
  /** Attempts that began before this no longer change the limit: they have lowered it already. */
  loweredAt: number;
  meanMs: number;
  /** The latest {@link NoSlot.askAgainAt}, and how many more may get the same. */
  askAgainAt: number;
  leftInRound: number;
  waiting: Set<() => void>;
}

/**
 * Limits how many attempts a process has in flight to each endpoint, so that one that hangs takes no connections and no time from
 * others, not even from one at the same host. A failure halves an endpoint's limit, and a success raises it by one: after an outage it
 * doubles with each round of answers.
 */
export class AttemptSlots {
  private readonly states = new Map<string, EndpointState>();
  private readonly slowMs: number;
  private readonly timings: Timings;
  private readonly now: () => number;

  /** @param slowMs an answer that takes this long is slow, milliseconds */
  constructor(slowMs: number, timings: Timings = TIMINGS, now: () => number = Date.now) {
    this.slowMs = slowMs;
    this.timings = timings;
    this.now = now;
  }

  /**
   * Takes a slot, or waits for one, if one is likely to be free in time.
   *
   * @param waitMs how long to wait at most, milliseconds
   * @param chosen the attempt was asked for by a person, or by the release of parked deliveries, which has a rate of its own: it heeds
   *   {@link MOST_IN_FLIGHT} alone
   */
  async take(endpointId: string, waitMs: number, chosen = false): Promise<AttemptSlot | NoSlot> {
    const state = this.stateOf(endpointId);
    const isFree = () => state.inFlight.size < (chosen ? MOST_IN_FLIGHT : state.limit);
    if (!isFree() && this.expectedMs(state) <= waitMs) await this.untilFree(state, waitMs);
    return isFree() ? this.occupy(state) : this.refuse(state);
  }

  /**
   * What {@link take} would answer at once, with the usual wait: `undefined` if there is a slot, or soon will be. Whoever is refused has a place
   * among those who ask again, so it is to be called once for each attempt.
   */
  refusal(endpointId: string): NoSlot | undefined {
    const state = this.states.get(endpointId);
    return state && isFull(state) && this.expectedMs(state) > SLOT_WAIT_MS ? this.refuse(state) : undefined;
  }

  /** Whether attempts that come now would have to queue for long. */
  isClogged(endpointId: string): boolean {
    const state = this.states.get(endpointId);
    if (!state || !isFull(state)) return false;
    return this.silentMs(state) >= CLOGGED_MS || this.expectedMs(state) > SLOT_WAIT_MS;
  }

  private stateOf(endpointId: string): EndpointState {
    const state = this.states.get(endpointId) ?? this.newState();
    const isRested =
      state.inFlight.size === 0 && this.now() - state.restingSince >= this.timings.slots_rested_ms;
    if (isRested) state.limit = Math.min(state.limit, FIRST_IN_FLIGHT);
    this.states.delete(endpointId);
    this.states.set(endpointId, state);
    dropOldest(this.states, MAX_REMEMBERED);
    return state;
  }

  private newState(): EndpointState {
    return {
      inFlight: new Set(),
      limit: FIRST_IN_FLIGHT,
      restingSince: this.now(),
      loweredAt: 0,
      meanMs: FIRST_GUESS_MS,
      askAgainAt: 0,
      leftInRound: 0,
      waiting: new Set(),
    };
  }

  private async untilFree({ waiting }: EndpointState, waitMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        waiting.delete(end);
        resolve();
      };
      const timer = setTimeout(end, waitMs);
      waiting.add(end);
    });
  }

  private occupy(state: EndpointState): AttemptSlot {
    const attempt = { began: this.now() };
    state.inFlight.add(attempt);
    return {
      kind: 'slot',
      free: (taken) => {
        state.inFlight.delete(attempt);
        state.restingSince = this.now();
        this.learn(state, attempt.began, taken);
        for (const wake of [...state.waiting].slice(0, state.limit - state.inFlight.size)) wake();
      },
    };
  }

  private refuse(state: EndpointState): NoSlot {
    return { kind: 'full', inFlight: state.inFlight.size, askAgainAt: this.nextTime(state) };
  }

  private learn(state: EndpointState, began: number, taken: boolean): void {
    const now = this.now();
    const took = now - began;
    state.meanMs += LATEST_WEIGHT * (took - state.meanMs);
    if (taken) {
      state.limit = Math.min(state.limit + 1, took < this.slowMs ? MOST_IN_FLIGHT : MOST_WHILE_SLOW);
    } else if (began >= state.loweredAt) {
      state.limit = Math.max(Math.floor(state.limit / 2), FEWEST_IN_FLIGHT);
      state.loweredAt = now;
    }
  }

  /** How long the oldest attempt in flight has been waiting for its answer. */
  private silentMs({ inFlight }: EndpointState): number {
    const [oldest] = inFlight;
    return oldest ? this.now() - oldest.began : 0;
  }

  /** How long an attempt takes: the mean, or longer if one in flight has been waiting for longer. */
  private estimate(state: EndpointState): number {
    return Math.max(state.meanMs, this.silentMs(state));
  }

  /** Whoever has been silent for long may be so for as long again. */
  private isSilent(state: EndpointState): boolean {
    return this.silentMs(state) > SILENT_AFTER_MEANS * state.meanMs;
  }

  /** How long one more would have to wait, if all slots are taken. */
  private expectedMs(state: EndpointState): number {
    const { waiting, limit } = state;
    const isSilent = this.isSilent(state);
    const rounds = roundsUntil(waiting.size + 1, limit, isSilent ? limit : MOST_IN_FLIGHT);
    // What one endpoint holds up began at about the same time, so no slot is free much sooner than all of them.
    return this.estimate(state) * (isSilent ? Math.max(rounds, 1) : rounds);
  }

  /** Those who find no slot ask again in rounds, as many in each as there are slots, so that those of a group come together. */
  private nextTime(state: EndpointState): number {
    const now = this.now();
    const { slots_ask_ms, slots_ask_silent_ms, slots_ask_at_last_ms } = this.timings;
    const estimate = this.estimate(state);
    const roundMs = this.isSilent(state)
      ? Math.max(2 * estimate, slots_ask_silent_ms)
      : Math.max(estimate, slots_ask_ms);
    if (state.leftInRound === 0 || state.askAgainAt <= now) {
      state.askAgainAt = Math.min(Math.max(state.askAgainAt, now) + roundMs, now + slots_ask_at_last_ms);
      // If the endpoint answers until then, there are twice as many slots.
      state.leftInRound = Math.min(2 * state.limit, MOST_IN_FLIGHT);
    }
    state.leftInRound -= 1;
    return state.askAgainAt;
  }
}

function isFull({ inFlight, limit }: EndpointState): boolean {
  return inFlight.size >= limit;
}

/** How many rounds of answers it takes until so many have had a slot, if each round has twice as many slots as the one before, up to the most. */
function roundsUntil(waiting: number, slots: number, most: number): number {
  if (waiting <= slots || slots >= most) return waiting / slots;
  return 1 + roundsUntil(waiting - slots, Math.min(2 * slots, most), most);
}
