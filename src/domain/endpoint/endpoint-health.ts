import { dropOldest } from '../basics/bounded-memory.js';

/** How long a failure or a slow answer is remembered, unless a quick success comes before, milliseconds. */
const REMEMBERED_MS = 60_000;
/** An answer is quick that comes in this part of the time that makes a slow one. */
const QUICK = 4;
/** The most endpoints that are remembered; beyond it, the one that became unhealthy first is forgotten. */
const MAX_REMEMBERED = 10_000;

/**
 * What this process has seen of endpoints lately: which are slow or failing, so that the direct lane is spared of them. It is a guess
 * that costs nothing, not a record: it is lost with the process, and other processes have their own.
 */
export class EndpointHealth {
  /** When trouble is forgotten, by endpoint, oldest first. */
  private readonly unhealthyUntil = new Map<string, number>();
  /** Attempts in flight in the direct lane: when each began, by endpoint. */
  private readonly direct = new Map<string, Set<{ began: number }>>();
  private directCount = 0;
  /** When the latest attempt began, to any endpoint, that was answered quickly. */
  private lastQuick = -1;
  private readonly slowMs: number;
  private readonly now: () => number;

  /** @param slowMs an attempt without an answer for this long makes its endpoint slow, milliseconds */
  constructor(slowMs: number, now: () => number = Date.now) {
    this.slowMs = slowMs;
    this.now = now;
  }

  /** Attempts in flight in the direct lane. */
  get directAttempts(): number {
    return this.directCount;
  }

  /** Whether an endpoint should be kept out of the direct lane. */
  isUnhealthy(endpointId: string): boolean {
    const now = this.now();
    if ((this.unhealthyUntil.get(endpointId) ?? 0) > now) return true;
    const [oldest] = this.direct.get(endpointId) ?? [];
    return oldest !== undefined && this.isSlow(oldest);
  }

  /**
   * Notes that an attempt begins.
   *
   * @param isDirect whether it is made in the direct lane
   * @returns to be called when it is over, with whether the endpoint took it
   */
  begin(endpointId: string, isDirect: boolean): (taken: boolean) => void {
    const attempt = { began: this.now() };
    if (isDirect) this.enter(endpointId, attempt);
    return (taken) => {
      if (isDirect) this.leave(endpointId, attempt);
      this.unhealthyUntil.delete(endpointId);
      if (taken && this.now() - attempt.began < this.slowMs / QUICK)
        this.lastQuick = Math.max(this.lastQuick, attempt.began);
      if (taken && !this.isSlow(attempt)) return;
      this.unhealthyUntil.set(endpointId, this.now() + REMEMBERED_MS);
      dropOldest(this.unhealthyUntil, MAX_REMEMBERED);
    };
  }

  /**
   * Whether an attempt has taken long, and its endpoint is to blame: one that began later was answered quickly. Where everything is slow,
   * this process or its network is, and there is nobody to be spared.
   */
  private isSlow({ began }: { began: number }): boolean {
    return this.now() - began >= this.slowMs && this.lastQuick > began;
  }

  private enter(endpointId: string, attempt: { began: number }): void {
    const inFlight = this.direct.get(endpointId) ?? new Set();
    this.direct.set(endpointId, inFlight.add(attempt));
    this.directCount += 1;
  }

  private leave(endpointId: string, attempt: { began: number }): void {
    const inFlight = this.direct.get(endpointId);
    inFlight?.delete(attempt);
    if (inFlight?.size === 0) this.direct.delete(endpointId);
    this.directCount -= 1;
  }
}
