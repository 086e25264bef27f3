import { setImmediate } from 'node:timers/promises';
import { inParts } from '../../../domain/basics/bounded-memory.js';
import type { EventSelection } from '../../../domain/delivery/recipients.js';
import { outcomeByHead, outcomeByPayload, WhatIfCount } from '../../../domain/explain/what-if.js';
import type { EventHead } from '../../../domain/feed/feed.js';
import { type FeedReader, MAX_BYTES, OPENED_AT_ONCE } from '../../../models/feed/feed-reader.js';

/**
 * Limits of one request: events, bytes of their payloads, processor time for the filter, and time altogether, both in
 * milliseconds.
 */
export const WHAT_IF_LIMITS = { events: 2_000, bytes: MAX_BYTES, filterMs: 200, totalMs: 3_000 };

/**
 * Examines the events of an account between two positions of the feed, until a limit is reached.
 *
 * @returns also the position up to which events have been examined
 */
export async function examine(
  feed: Pick<FeedReader, 'heads' | 'opened'>,
  accountId: string,
  selection: EventSelection,
  { after, before }: { after: string; before: string },
  limits = WHAT_IF_LIMITS,
): Promise<{ count: WhatIfCount; end: string }> {
  const count = new WhatIfCount();
  const began = performance.now();
  const spent = { events: 0, bytes: 0, filterMs: 0, totalMs: 0 };

  const byPayload = (kind: string, payload: string | undefined) => {
    const began = performance.now();
    const outcome = outcomeByPayload(selection, kind, payload);
    spent.filterMs += performance.now() - began;
    return outcome;
  };
  const isSpent = () => {
    spent.totalMs = performance.now() - began;
    return (Object.keys(limits) as (keyof typeof limits)[]).some((name) => spent[name] >= limits[name]);
  };
  let position = after;
  /** @returns whether a limit is reached */
  const examinePart = async (part: readonly (EventHead & { position: string })[]): Promise<boolean> => {
    const heads = part.map((head) => ({ head, decided: outcomeByHead(selection, head) }));
    const undecided = heads.filter(({ head, decided }) => !head.is_test && !decided);
    const opened = await feed.opened(
      accountId,
      undecided.map(({ head }) => head),
    );
    for (const { head, decided } of heads) {
      position = head.position;
      spent.events += 1;
      if (head.is_test) continue;
      if (decided) {
        count.add(head, decided);
        continue;
      }
      const { event, altered } = opened.get(head.id) ?? {};
      count.add(head, byPayload(head.kind, altered ? undefined : event?.payload));
      spent.bytes += head.payload_bytes;
      if (isSpent()) return true;
      // Other requests go between two payloads.
      await setImmediate();
    }
    return isSpent();
  };

  // At least one round, so that who goes on from here gets on.
  do {
    const { heads, end } = await feed.heads(accountId, position, before);
    for (const part of inParts(heads, OPENED_AT_ONCE))
      if (await examinePart(part)) return { count, end: position };
    position = end;
  } while (position < before && !isSpent());
  return { count, end: position };
}
