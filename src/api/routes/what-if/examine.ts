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
  const examinePart = async (part: readonly EventHead[]): Promise<void> => {
    const events = part.filter(({ is_test }) => !is_test);
    const undecided = events.filter((head) => outcomeByHead(selection, head) === undefined);
    const opened = await feed.opened(accountId, undecided);
    for (const head of events) {
      const { event, altered } = opened.get(head.id) ?? {};
      const payload = altered ? undefined : event?.payload;
      count.add(head, outcomeByHead(selection, head) ?? byPayload(head.kind, payload));
    }
    spent.events += part.length;
    spent.bytes += undecided.reduce((sum, { payload_bytes }) => sum + payload_bytes, 0);
    spent.totalMs = performance.now() - began;
  };

  let position = after;
  while (position < before) {
    const { heads, end } = await feed.heads(accountId, position, before);
    for (const part of inParts(heads, OPENED_AT_ONCE)) {
      await examinePart(part);
      position = part.at(-1)?.position ?? position;
      const isSpent = (Object.keys(limits) as (keyof typeof limits)[]).some(
        (name) => spent[name] >= limits[name],
      );
      if (isSpent) return { count, end: position };
    }
    position = end;
  }
  return { count, end: position };
}
