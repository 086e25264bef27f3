import { dropOldest } from '../basics/bounded-memory.js';

/** Attempts at one endpoint that a process has in flight at once, while the endpoint answers well. */
export const MOST_IN_FLIGHT = 64;
/** While it takes attempts, but slowly. */
export const MOST_WHILE_SLOW = 32;
/** The fewest in flight, however badly the endpoint answers: one of them shows when it answers again. */
export const FEWEST_IN_FLIGHT = 4;
/**
 * An attempt without a slot asks again after this at the latest, milliseconds. It is parked until then, so the end of an incident releases
 * it sooner; asking is for the case that there is none, and costs something.
 */
export const LONGEST_WAIT_MS = 60_000;
/** How long an attempt is thought to take at an endpoint that has not answered yet, milliseconds. */
const FIRST_GUESS_MS = 500;
/** Those who find no slot ask again no sooner than after this, milliseconds. */
const SHORTEST_WAIT_MS = 1_000;
/** An endpoint is silent while an attempt in flight has taken this many times the mean duration. */
const SILENT_AFTER_MEANS = 2;
/** The weight of the latest attempt in the mean duration. */
const LATEST_WEIGHT = 0.2;
/** Endpoints whose limit is remembered while nothing is in flight to them. */
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
  private readonly now: () => number;

  /** @param slowMs an answer that takes this long is slow, milliseconds */
  constructor(slowMs: number, now: () => number = Date.now) {
    this.slowMs = slowMs;
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
    const expectedMs = (this.estimate(state) * (state.waiting.size + 1)) / state.limit;
    if (!isFree() && expectedMs <= waitMs) await this.untilFree(state, waitMs);
    if (isFree()) return this.occupy(endpointId, state);
    return { kind: 'full', inFlight: state.inFlight.size, askAgainAt: this.nextTime(state) };
  }

  private stateOf(endpointId: string): EndpointState {
    const known = this.states.get(endpointId);
    if (known) return known;
    const state: EndpointState = {
      inFlight: new Set(),
      limit: MOST_IN_FLIGHT,
      loweredAt: 0,
      meanMs: FIRST_GUESS_MS,
      askAgainAt: 0,
      leftInRound: 0,
      waiting: new Set(),
    };
    this.states.set(endpointId, state);
    dropOldest(this.states, MAX_REMEMBERED);
    return state;
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

  private occupy(endpointId: string, state: EndpointState): AttemptSlot {
    const attempt = { began: this.now() };
    state.inFlight.add(attempt);
    return {
      kind: 'slot',
      free: (taken) => {
        state.inFlight.delete(attempt);
        this.learn(state, attempt.began, taken);
        for (const wake of [...state.waiting].slice(0, state.limit - state.inFlight.size)) wake();
        if (isLikeNew(state) && this.states.get(endpointId) === state) this.states.delete(endpointId);
      },
    };
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

  /** How long an attempt takes: the mean, or longer if one in flight has been waiting for longer. */
  private estimate({ inFlight, meanMs }: EndpointState): number {
    const [oldest] = inFlight;
    return oldest ? Math.max(meanMs, this.now() - oldest.began) : meanMs;
  }

  /** Those who find no slot ask again in rounds, as many in each as there are slots, so that those of a group come together. */
  private nextTime(state: EndpointState): number {
    const now = this.now();
    const estimate = this.estimate(state);
    // Whoever has been silent for long may be so for as long again.
    const isSilent = estimate > SILENT_AFTER_MEANS * state.meanMs;
    const roundMs = Math.max(isSilent ? 2 * estimate : estimate, SHORTEST_WAIT_MS);
    if (state.leftInRound === 0 || state.askAgainAt <= now) {
      state.askAgainAt = Math.min(Math.max(state.askAgainAt, now) + roundMs, now + LONGEST_WAIT_MS);
      state.leftInRound = state.limit;
    }
    state.leftInRound -= 1;
    return state.askAgainAt;
  }
}

/** Of an idle endpoint that answers well, nothing needs to be remembered. */
function isLikeNew({ inFlight, limit, waiting, meanMs }: EndpointState): boolean {
  return inFlight.size === 0 && waiting.size === 0 && limit === MOST_IN_FLIGHT && meanMs <= FIRST_GUESS_MS;
}
