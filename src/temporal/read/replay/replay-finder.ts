import { setTimeout as delay } from 'node:timers/promises';
import { MAX_GROUP_SIZE } from '../../../domain/delivery/delivery.js';
import type { Registration, ReplayPlan } from '../../../domain/replay/replay.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import { ACCEPTED, readWindow } from '../visibility/windows.js';
import type { Found, ReplayCursor, ReplayPage, ReplaySources } from './replay-page.js';
import { selectDeliveries } from './select-deliveries.js';
import { selectMissed } from './select-missed.js';

/** What stands in the history of a replay's workflow at once. */
const PAGE_SIZE = 200;
/** A page ends after this, even with few items or none. Milliseconds. */
const PAGE_TIME_MS = 3_000;
/** The first width of a window that is tried, and the widest, milliseconds: a minute, a day. */
const FIRST_WIDTH_MS = 60_000;
const MAX_WIDTH_MS = 24 * 3_600_000;
/**
 * The events of a group were accepted at most this long after its first one: a start that hangs holds up those behind
 * it.
 */
const GROUP_SPREAD_MS = 10 * 60_000;
/** Visibility lists an execution a moment after it was started, so a younger window is not read yet. Milliseconds. */
const SETTLED_AFTER_MS = 1_000;

/**
 * A page of what a replay acts on, the oldest events first. What was started after the replay was asked for does not
 * count, so what the replay starts itself is not found.
 *
 * @param cursor of an earlier page; absent for the first one
 * @param options `compared`: registrations whose selections are compared; the replay's own, if absent. `size`: a page
 * ends with the part that makes it this long
 */
export async function findForReplay(
  sources: ReplaySources,
  plan: ReplayPlan,
  cursor?: ReplayCursor,
  {
    compared = [plan.registration ?? 'now'],
    size = PAGE_SIZE,
  }: { compared?: readonly Registration[]; size?: number } = {},
): Promise<ReplayPage> {
  const end = Date.parse(plan.filter.created_before);
  const selection = plan.mode === 'missed' ? selectMissed : selectDeliveries;
  const clauses = selection.clauses(plan);
  if (!clauses) return { found: [], up_to: plan.filter.created_before };
  const deadline = sharedNow() + PAGE_TIME_MS;
  const found: Found[] = [];
  let next = cursor ?? firstCursor(plan);
  do {
    const { after, ...from } = next;
    await untilSettled(Math.min(from.from + from.width, end));
    const window = await readWindow(sources.client, clauses, ACCEPTED, {
      ...from,
      end,
      isKnown: after !== undefined,
    });
    const request = { ...sources, plan, compared, after, limit: size };
    const part = await selection.part(window.executions, request);
    found.push(...part.found);
    const width = window.to - window.from;
    next =
      part.after === undefined
        ? { from: window.to, width: nextWidth(width, window.executions.length) }
        : { from: window.from, width, after: part.after };
  } while (next.from < end && found.length < size && sharedNow() < deadline);
  const up_to = new Date(Math.min(next.from, end)).toISOString();
  return { found, up_to, ...(next.from < end && { next }) };
}

function firstCursor({ filter }: ReplayPlan): ReplayCursor {
  return { from: Date.parse(filter.created_after) - GROUP_SPREAD_MS, width: FIRST_WIDTH_MS };
}

async function untilSettled(to: number): Promise<void> {
  const wait = to + SETTLED_AFTER_MS - sharedNow();
  if (wait > 0) await delay(Math.min(wait, SETTLED_AFTER_MS));
}

/** Windows grow while they hold little. */
function nextWidth(width: number, executions: number): number {
  return Math.min(executions < MAX_GROUP_SIZE ? width * 4 : width, MAX_WIDTH_MS);
}
