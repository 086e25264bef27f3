import { createdAt } from '../../../domain/basics/id-time.js';
import { idsBeginAt } from '../../../domain/basics/ids.js';
import type { Registration, SelectingPlan } from '../../../domain/replay/replay.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { ReplayCursor, ReplayPage, ReplaySources, ReplayTarget } from './replay-page.js';
import { selectDeliveries } from './select-deliveries.js';
import { selectMissed } from './select-missed.js';

/** Items that the history of a replay's workflow holds at once. */
const PAGE_SIZE = 200;
/** A page ends after this, even with few items or none. Milliseconds. */
const PAGE_TIME_MS = 3_000;

/**
 * A page of what a replay acts on, the oldest events first. Executions started after the request for the replay do not
 * count, so the replay does not find its own.
 *
 * @param cursor of an earlier page; absent for the first one
 * @param options `compared`: registrations whose selections are compared; the replay's own, if absent. `size`: a page
 * ends with the part that makes it this long
 */
export async function findForReplay(
  sources: ReplaySources,
  plan: SelectingPlan,
  cursor?: ReplayCursor,
  {
    compared = [plan.registration ?? 'now'],
    size = PAGE_SIZE,
  }: { compared?: readonly Registration[]; size?: number } = {},
): Promise<ReplayPage> {
  const { created_after, created_before } = plan.filter;
  const until = idsBeginAt('event', Date.parse(created_before));
  const select = plan.mode === 'missed' ? selectMissed : selectDeliveries;
  const deadline = sharedNow() + PAGE_TIME_MS;
  const found: ReplayTarget[] = [];
  let from: ReplayCursor | undefined = cursor ?? {
    event_id: idsBeginAt('event', Date.parse(created_after)),
  };
  do {
    const part = await select({ ...sources, plan, compared, from, until, limit: size });
    found.push(...part.found);
    from = part.next;
  } while (from && from.event_id < until && found.length < size && sharedNow() < deadline);
  const next = from && from.event_id < until ? from : undefined;
  return { found, up_to: next ? timeOf(next) : created_before, ...(next && { next }) };
}

function timeOf({ event_id }: ReplayCursor): string {
  return createdAt(event_id);
}
