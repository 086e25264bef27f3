import { createdAt } from '../basics/id-time.js';
import { omit } from '../basics/objects.js';
import type { GroupMember, NamedEvent } from './delivery.js';
import type { LiveGroup } from './delivery-group.js';

/**
 * Input of the workflow `deliver`: a group in which the fields that all its events, or all its deliveries, have alike
 * stand once. It is in the history of each execution. A Temporal payload.
 */
export interface GroupInput extends Omit<LiveGroup, 'events' | 'deliveries'> {
  /** `accepted_at` is absent if the id of the event says it. */
  events: Partial<NamedEvent>[];
  deliveries: Partial<GroupMember>[];
  /** Absent for a single delivery. */
  alike?: { event: Partial<NamedEvent>; delivery: Partial<GroupMember> };
}

/** The input that {@link groupOf} makes a group of again. */
export function inputOf(group: LiveGroup): GroupInput {
  if (group.deliveries.length < 2) return group;
  const events: Partial<NamedEvent>[] = group.events.map(({ accepted_at, ...event }) =>
    accepted_at === createdAt(event.event_id) ? event : { ...event, accepted_at },
  );
  const alike = { event: alikeIn(events), delivery: alikeIn(group.deliveries) };
  return {
    ...group,
    alike,
    events: events.map((event) => omit(event, ...namesOf(alike.event))),
    deliveries: group.deliveries.map((delivery) => omit(delivery, ...namesOf(alike.delivery))),
  };
}

export function groupOf({ alike, ...input }: GroupInput): LiveGroup {
  const events = input.events.map((event) => {
    const { event_id = '', accepted_at = createdAt(event_id), ...fields } = { ...alike?.event, ...event };
    return { ...fields, event_id, accepted_at } as NamedEvent;
  });
  const deliveries = input.deliveries.map((delivery) => ({ ...alike?.delivery, ...delivery }) as GroupMember);
  return { ...input, events, deliveries };
}

/** The fields that some objects have alike. */
function alikeIn<T extends object>(all: readonly T[]): Partial<T> {
  const [first, ...others] = all.map((one) => new Map(Object.entries(one)));
  const fields = [...(first ?? [])].filter(([name, value]) => {
    const text = JSON.stringify(value);
    return others.every((other) => JSON.stringify(other.get(name)) === text);
  });
  return Object.fromEntries(fields) as Partial<T>;
}

function namesOf<T extends object>(fields: T): (keyof T)[] {
  return Object.keys(fields) as (keyof T)[];
}
