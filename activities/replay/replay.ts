import { setTimeout as delay } from 'node:timers/promises';
import { activityInfo } from '@temporalio/activity';
import pLimit from 'p-limit';
import type { ChangeOutcome } from '../../src/domain/change/change.js';
import type { ReplayItem, ReplayPlan, ReplayProgress, ReplayResult } from '../../src/domain/replay/replay.js';
import { sharedNow } from '../../src/domain/time/shared-time.js';
import { whileBeating } from '../while-beating.js';
import type { ReplayItemPage, ReplayLedger } from './replay-ledger.js';

/** Deliveries that are acted on at once. */
const ACTS_AT_ONCE = 10;

/** Deliveries that a replay acts on together. */
interface ReplayBatch {
  plan: ReplayPlan;
  items: ReplayItem[];
  /** When the workflow asked for it: the same on every repeat. Milliseconds since the epoch. */
  at: number;
}

/** The steps of a replay. */
export function createReplayActivities({ replays }: { replays: ReplayLedger }) {
  return {
    /** Finds what a replay acts on next. It changes nothing. */
    findForReplay: ({ plan, cursor }: { plan: ReplayPlan; cursor?: unknown }): Promise<ReplayItemPage> =>
      whileBeating(() => replays.find(plan, cursor)),

    /** Acts on some deliveries, at the replay's rate. Repeated after a crash, it acts on those that were left. */
    actForReplay: ({ plan, items, at }: ReplayBatch): Promise<ReplayResult[]> =>
      whileBeating(async () => {
        const ended = await replays.announce(plan, items, at);
        const results = await paced(items, plan.rate, (item) => replays.act(plan, item));
        await ended(outcomesOf(results));
        return results;
      }),

    /** Keeps how a replay ended. */
    endReplay: ({ plan, progress }: { plan: ReplayPlan; progress: ReplayProgress }): Promise<void> =>
      replays.end(plan, progress, activityInfo().workflowExecution?.runId ?? ''),
  };
}

/** How acts ended, as far as that is certain: of one that failed it is found out. */
function outcomesOf(results: readonly ReplayResult[]): Map<string, ChangeOutcome> {
  const outcomes = new Map<string, ChangeOutcome>();
  for (const { id, result } of results)
    if (result !== 'failed') outcomes.set(id, result === 'done' ? 'done' : 'refused');
  return outcomes;
}

/**
 * Acts on items in order, no more of them per second than the rate; it takes as long as the rate asks for.
 *
 * @throws what an act has thrown, once no other is under way
 */
async function paced<T, R>(items: readonly T[], rate: number, act: (item: T) => Promise<R>): Promise<R[]> {
  const limit = pLimit(ACTS_AT_ONCE);
  const began = sharedNow();
  const untilTurn = (index: number) => delay(Math.max(began + (index * 1_000) / rate - sharedNow(), 0));
  const settled = await Promise.allSettled(
    items.map((item, index) =>
      limit(async () => {
        await untilTurn(index);
        return act(item);
      }),
    ),
  );
  await untilTurn(items.length);
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}
