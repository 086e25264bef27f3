import type { ChangeOutcome } from '../../src/domain/change/change.js';
import type { ReplayItem, ReplayPlan, ReplayProgress, ReplayResult } from '../../src/domain/replay/replay.js';

/** A page of what a replay acts on. */
export interface ReplayItemPage {
  items: ReplayItem[];
  /** Deliveries whose endpoint was deleted: nothing can be sent to it. */
  gone: number;
  /** Where the next page begins; absent on the last one. */
  next?: unknown;
  /** Up to when events have been looked through. ISO 8601, UTC. */
  up_to: string;
}

/** Reads and actions of replays. */
export interface ReplayLedger {
  /** @param cursor `next` of an earlier page; absent for the first one */
  find(plan: ReplayPlan, cursor: unknown): Promise<ReplayItemPage>;
  /** Acts on one delivery, once, however often it is called. @throws if it is to be called again */
  act(plan: ReplayPlan, item: ReplayItem): Promise<ReplayResult>;
  /**
   * Records that a replay is going to act on some deliveries, before it does.
   *
   * @param at the same on every repeat; milliseconds since the epoch
   * @returns records how it ended, by the delivery's id; what is not told is found out later
   */
  announce(
    plan: ReplayPlan,
    items: readonly ReplayItem[],
    at: number,
  ): Promise<(outcomes: ReadonlyMap<string, ChangeOutcome>) => Promise<void>>;
  /** Keeps how a replay ended. */
  end(plan: ReplayPlan, progress: ReplayProgress, runId: string): Promise<void>;
}
