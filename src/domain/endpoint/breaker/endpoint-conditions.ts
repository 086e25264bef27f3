import { LRUCache } from 'lru-cache';
import { roomFor } from '../../basics/bounded-memory.js';
import { sharedNow } from '../../time/shared-time.js';
import { type FailingMark, type HeldBack, heldBack } from './circuit-breaker.js';
import { type ConditionSettings, EndpointCondition, SLOTS } from './endpoint-condition.js';

/** Endpoints that are remembered: those that were attempted last. */
const MAX_REMEMBERED = 10_000;

export interface MemorySettings extends ConditionSettings {
  /** Attempts in flight in the direct lane; beyond it, further ones belong in the isolated lane. */
  maxDirect: number;
}

/** Where a first attempt is made. */
export interface Placement {
  isolated: boolean;
  /** Why it waits; absent: it does not. */
  held?: HeldBack;
}

/** How an attempt is made. */
export interface SlotRequest {
  /** As stored with the endpoint. */
  mark?: FailingMark | undefined;
  isDirect: boolean;
  /** How long it waits for a slot at most, milliseconds. */
  waitMs?: number;
  /** See {@link EndpointCondition.freeSlots}. */
  isChosen?: boolean;
  /** See {@link EndpointCondition.most}. */
  most?: number | undefined;
}

/** The right to make one attempt at an endpoint. */
export interface AttemptSlot {
  kind: 'slot';
  /** To be called once when the attempt has ended. @param taken whether the endpoint took it */
  end(taken: boolean): void;
  /** To be called in place of that if no attempt is made. @returns why it waits: others use what the endpoint allows */
  giveBack(): HeldBack;
}

/**
 * A process's memory of the condition of endpoints. It is lost with the process, and other processes have their own.
 */
export class EndpointConditions {
  private readonly settings: MemorySettings;
  private readonly known = new LRUCache<string, EndpointCondition>(roomFor(MAX_REMEMBERED));
  /** Condition of an endpoint that is not remembered. It is only asked. */
  private readonly unknown: EndpointCondition;
  private readonly now: () => number;
  private directAttempts = 0;
  /** When the latest attempt began, to any endpoint, that was answered quickly. */
  private quickSince = -1;

  constructor(settings: MemorySettings, now: () => number = sharedNow) {
    this.settings = settings;
    this.unknown = new EndpointCondition(settings);
    this.now = now;
  }

  /** Condition of an endpoint to which something happens. It is remembered from now on; reads evict nothing. */
  of(endpointId: string): EndpointCondition {
    const known = this.known.get(endpointId);
    if (known) return known;
    const condition = new EndpointCondition(this.settings);
    this.known.set(endpointId, condition);
    return condition;
  }

  /**
   * Decides where the first attempt of a delivery that is accepted now is made. To be called once for each: where all
   * slots are taken, it gives away a place among those who ask again.
   *
   * @param mark as stored with the endpoint, as far as it is known
   */
  place(endpointId: string, mark: FailingMark | undefined): Placement {
    const held = this.heldBack(mark);
    if (held) return { isolated: true, held };
    if (!this.isIsolated(endpointId, mark)) return { isolated: false };
    const busy = this.asked(endpointId).refusal(mark, this.now());
    return { isolated: true, ...(busy && { held: busy }) };
  }

  /** Why a first attempt waits for an endpoint, if it does. */
  heldBack(mark: FailingMark | undefined): HeldBack | undefined {
    return heldBack(mark, this.now(), this.settings.timings, Math.random());
  }

  /** Whether an attempt belongs in the isolated lane. */
  isIsolated(endpointId: string, mark: FailingMark | undefined): boolean {
    const isFull = this.directAttempts >= this.settings.maxDirect;
    return isFull || this.asked(endpointId).isTroubled(mark, this.quickSince, this.now());
  }

  /** Takes a slot, or waits for one, if one is likely to be free in time. */
  async take(
    endpointId: string,
    { mark, isDirect, waitMs = SLOTS.waitMs, isChosen = false, most = SLOTS.most }: SlotRequest,
  ): Promise<AttemptSlot | HeldBack> {
    const condition = this.of(endpointId);
    condition.most = most;
    const isFree = () => condition.freeSlots(mark, this.now(), isChosen) > 0;
    if (!isFree() && condition.expectedMs(mark, this.now()) <= waitMs) await untilFree(condition, waitMs);
    return isFree() ? this.begin(condition, mark, isDirect) : condition.busy(mark, this.now());
  }

  private asked(endpointId: string): EndpointCondition {
    return this.known.peek(endpointId) ?? this.unknown;
  }

  private begin(condition: EndpointCondition, mark: FailingMark | undefined, isDirect: boolean): AttemptSlot {
    const attempt = condition.begin(this.now());
    if (isDirect) this.directAttempts += 1;
    const wakeNext = () => {
      if (isDirect) this.directAttempts -= 1;
      const free = Math.max(condition.freeSlots(mark, this.now()), 0);
      for (const wake of [...condition.waiting].slice(0, free)) wake();
    };
    return {
      kind: 'slot',
      end: (taken) => {
        if (condition.end(attempt, taken, this.quickSince, this.now()))
          this.quickSince = Math.max(this.quickSince, attempt.began);
        wakeNext();
      },
      giveBack: () => {
        condition.giveBack(attempt);
        wakeNext();
        return condition.busy(mark, this.now());
      },
    };
  }
}

async function untilFree({ waiting }: EndpointCondition, waitMs: number): Promise<void> {
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
