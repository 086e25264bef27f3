import { CROCKFORD, ULID } from '../basics/id-time.js';
import { idsBeginAt } from '../basics/ids.js';
import type { NamedEvent } from '../delivery/delivery.js';

/** An event as far as its place in the feed goes. */
export type FeedEvent = Pick<NamedEvent, 'account_id' | 'event_id' | 'event_kind' | 'accepted_at'>;

/** An event that was stored when readers may have been past its id: it has a position of its own. */
export interface LateEvent {
  event: FeedEvent;
  /** A ULID, later than that of the event's id. */
  position: string;
}

/** A stored event as it tells of itself without its payload, and where it stands. */
export interface EventHead {
  id: string;
  kind: string;
  payload_bytes: number;
  is_test: boolean;
  /** Whether its producer named the endpoints that may get it. */
  is_addressed: boolean;
}

/** Facts about the feed that processes share. */
export interface FeedPlaces {
  /** Until when events may have been read: milliseconds since the epoch, 0 if nobody has read any. */
  readUntil(): Promise<number>;
  /** Gives events a position; one that has one already keeps the later of both. */
  place(late: readonly LateEvent[]): Promise<void>;
}

/** The form of positions: ULIDs, which sort by time, or how some of them begin. */
export const POSITION = new RegExp(`^(${ULID}|[0-7][${CROCKFORD}]{9,24})$`);

const PREFIX = 'evt_';

/** Where an event stands that is not late: at the ULID of its id. */
export function positionOf(eventId: string): string {
  return eventId.slice(PREFIX.length);
}

/** The id of an event that stands at a position and is not late. */
export function idAt(position: string): string {
  return PREFIX + position;
}

/** Sorts before the positions of a time and all later ones. @param at milliseconds since the epoch */
export function positionsFrom(at: number): string {
  // The library takes 0 for now.
  return positionOf(idsBeginAt('event', Math.max(at, 1)));
}

/** Sorts right before a position: what is read after it begins there. */
export function justBefore(position: string): string {
  return position.slice(0, -1);
}
