import type { NamedEvent } from './delivery.js';

/** Event of an account, by id. */
export type EventName = Pick<NamedEvent, 'account_id' | 'event_id'>;

/** The payloads of stored events, for attempts. */
export interface EventPayloads {
  /**
   * A payload as it was received; `undefined` if its key was erased, or it is not kept any more.
   *
   * @throws Error if the stored event is not what was written
   */
  of(event: EventName): Promise<string | undefined>;
  /**
   * The payload of an event that has just been stored is asked for in a moment.
   *
   * @param sealed as it is stored
   */
  remember(event: EventName, payload: string, sealed: string): void;
  /** A text that names the data key of an event that this process has just stored or read. */
  keyOf(event: EventName): string | undefined;
}
