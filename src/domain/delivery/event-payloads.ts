import type { NamedEvent } from './delivery.js';

/** The payloads of stored events, for attempts. */
export interface EventPayloads {
  /**
   * A payload as it was received; `undefined` if its key was erased, or it is not kept any more.
   *
   * @throws Error if the stored event is not what was written
   */
  of(event: Pick<NamedEvent, 'account_id' | 'event_id'>): Promise<string | undefined>;
  /** The payload of an event that has just been stored is asked for in a moment. */
  remember(event: Pick<NamedEvent, 'account_id' | 'event_id'>, payload: string): void;
}
