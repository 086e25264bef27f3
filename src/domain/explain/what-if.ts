import { valuesOf } from '../../../packages/payload-contract/src/index.js';
import { createdAt } from '../basics/id-time.js';
import { type EventSelection, mismatchOf } from '../delivery/recipients.js';
import type { RetrySchedule } from '../endpoint/retry-schedule.js';
import type { EventHead } from '../feed/feed.js';

/** Why an endpoint would not have received an event, or why nobody can say: its payload cannot be read any more. */
export const LEFT_OUT = ['event_kind', 'filter', 'named_endpoints', 'payload_unavailable'] as const;

export type WhatIfOutcome = 'delivered' | (typeof LEFT_OUT)[number];

/** The longest period, in days. */
export const MAX_WHAT_IF_DAYS = 31;
/** Event ids that are shown of what is counted. */
export const SAMPLE_SIZE = 10;

/**
 * Whether a new endpoint would have received an event, as far as that is known without the payload.
 *
 * @returns `undefined` if the payload decides
 */
export function outcomeByHead(
  selection: EventSelection,
  { kind, is_addressed }: Pick<EventHead, 'kind' | 'is_addressed'>,
): WhatIfOutcome | undefined {
  // Its producer named others: the new endpoint did not exist.
  if (is_addressed) return 'named_endpoints';
  if (mismatchOf({ event_kinds: selection.event_kinds }, kind, undefined)) return 'event_kind';
  return selection.filter ? undefined : 'delivered';
}

/** The same, where the payload decides. @param payload as received; `undefined` if it cannot be read any more */
export function outcomeByPayload(
  selection: EventSelection,
  kind: string,
  payload: string | undefined,
): WhatIfOutcome {
  if (payload === undefined) return 'payload_unavailable';
  return mismatchOf(selection, kind, valuesOf(payload)) ? 'filter' : 'delivered';
}

/** The number of some events, and the ids of the first. */
export class Sampled {
  count = 0;
  readonly event_ids: string[] = [];

  add(eventId: string): void {
    this.count += 1;
    if (this.event_ids.length < SAMPLE_SIZE) this.event_ids.push(eventId);
  }
}

/** Counts what a new endpoint would have received: by reason, by kind, and by day of acceptance (UTC). */
export class WhatIfCount {
  events = 0;
  readonly outcomes = Object.fromEntries(
    (['delivered', ...LEFT_OUT] as const).map((outcome) => [outcome, new Sampled()]),
  ) as Record<WhatIfOutcome, Sampled>;
  readonly byKind = new Map<string, Share>();
  readonly byDay = new Map<string, Share>();

  add({ id, kind }: Pick<EventHead, 'id' | 'kind'>, outcome: WhatIfOutcome): void {
    this.events += 1;
    this.outcomes[outcome].add(id);
    const delivered = outcome === 'delivered' ? 1 : 0;
    addTo(this.byKind, kind, delivered);
    addTo(this.byDay, createdAt(id).slice(0, 'yyyy-mm-dd'.length), delivered);
  }
}

/** Events, and how many of them would have been delivered. */
export interface Share {
  events: number;
  deliveries: number;
}

function addTo(shares: Map<string, Share>, key: string, delivered: number): void {
  const { events, deliveries } = shares.get(key) ?? { events: 0, deliveries: 0 };
  shares.set(key, { events: events + 1, deliveries: deliveries + delivered });
}

/**
 * The times of all attempts of a delivery whose endpoint always fails, in milliseconds after the first attempt. Jitter
 * makes each wait up to a tenth longer, and the attempts themselves take time.
 */
export function attemptTimes(schedule: RetrySchedule): number[] {
  let at = 0;
  return [0, ...schedule.map((wait) => (at += wait))];
}
