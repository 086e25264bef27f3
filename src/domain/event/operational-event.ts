import { derivedId } from '../basics/ids.js';
import type { RecordedTime } from '../time/recorded-time.js';

/** Kinds of events about endpoints and their deliveries, which Hookline itself sends. */
export type OperationalKind =
  | 'endpoint.failing'
  | 'endpoint.recovered'
  | 'endpoint.disabled'
  | 'delivery.exhausted'
  | 'delivery.expired';

/** An event about an endpoint, sent by Hookline itself. */
export interface OperationalEvent {
  account_id: string;
  kind: OperationalKind;
  /** When the transition was. */
  at: RecordedTime;
  /** Identifies the transition, so that the event has the same id however often it is sent. */
  transition: string;
  payload: Record<string, unknown>;
}

/**
 * The id of an event that Hookline emits itself. The same transition gives the same id however often it is sent, so a
 * repeat is the same event.
 */
export function operationalEventId({ at, transition }: Pick<OperationalEvent, 'at' | 'transition'>): string {
  return derivedId('event', Date.parse(at), transition);
}
