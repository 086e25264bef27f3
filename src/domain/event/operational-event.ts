import { derivedId } from '../basics/ids.js';

/** An event about an endpoint, sent by Hookline itself. */
export interface OperationalEvent {
  account_id: string;
  kind: string;
  /** ISO 8601, UTC: when the transition was. */
  at: string;
  /** Identifies the transition, so that the event has the same id however often it is sent. */
  transition: string;
  payload: Record<string, unknown>;
}

/**
 * The id of an event that Hookline emits itself. The same transition gives the same id however often it is sent, so a
 * repeat is the same event.
 *
 * @param at ISO 8601: when the transition was
 * @param transition what names it and no other
 */
export function operationalEventId(at: string, transition: string): string {
  return derivedId('event', Date.parse(at), transition);
}
