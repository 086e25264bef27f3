import type { AcceptedEvent, DeliveryTarget, NamedEvent } from './delivery.js';

/** An endpoint that a stored event goes to. */
export interface StoredTarget extends DeliveryTarget {
  /**
   * Place of the execution that carries the delivery among {@link EventToStore.carriers}; absent: an execution of its
   * own, under the delivery's id, or one that the event's id names.
   */
  carrier?: number;
}

/** The request that an event was accepted by, so that a repeat of it is known. */
export interface Once {
  /** The producer's `Idempotency-Key`. */
  key: string;
  /**
   * Salted hash of event kind, body and headers, hexadecimal: nobody can test a guess of the body once its data key is
   * erased.
   */
  body_hash: string;
}

/** An event as it is stored. */
export interface StorableEvent {
  /** As its executions get it, with the mark of its subject among its keys. */
  event: AcceptedEvent;
  /** The payload as it is stored, which names the data key that sealed it. */
  sealed: string;
  /** To the payload, under the event's salt. */
  commitment: string;
  payload_bytes: number;
}

/** An event that is to be stored before its producer is answered. */
export interface EventToStore extends StorableEvent {
  targets: readonly StoredTarget[];
  /** Ids of the groups that carry some of its deliveries. */
  carriers: readonly string[];
  /** Id of the process that starts its executions. */
  starter: string;
  once?: Once | undefined;
}

/** Response to the producer of an event that is stored. */
export interface KeptEvent {
  event_id: string;
  /** ISO 8601, UTC. */
  accepted_at: string;
  sequence?: number | undefined;
  targets: readonly DeliveryTarget[];
  /** {@link Once.body_hash} of the request that it was accepted by; absent if that had no key. */
  body_hash?: string | undefined;
  /** It is not what was written: it has no targets, and is no response. Absent if it is. */
  altered?: Error;
}

/** A stored event with what its executions are started from. */
export interface StoredEvent {
  event: NamedEvent;
  targets: readonly StoredTarget[];
  carriers: readonly string[];
}

/** Events as they are stored, for the code that accepts and starts them. */
export interface EventStore {
  /**
   * Stores events together.
   *
   * @returns for each of them `undefined` if it is stored, or the event of the account that has its idempotency key
   * @throws if it is not known which of them are stored
   */
  insert(events: readonly EventToStore[]): Promise<(KeptEvent | undefined)[]>;
  /**
   * Stores events together: all of them, or none.
   *
   * @returns as {@link insert}
   * @throws if it is not known whether they are stored
   */
  insertTogether(events: readonly EventToStore[]): Promise<(KeptEvent | undefined)[]>;
  /** Those of some events that are stored. */
  stored(ids: readonly string[]): Promise<Set<string>>;
  /** One event; `undefined` if it is not stored. */
  find(id: string): Promise<StoredEvent | undefined>;
  /** The events that a group carries. */
  carriedBy(carrier: string): Promise<StoredEvent[]>;
  /** Events that a process was to start, among those whose ids were made since a time. Milliseconds since the epoch. */
  ofStarter(starter: string, since: number): AsyncIterable<StoredEvent[]>;
}

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

/** The process of an {@link EventToStore.starter}, as others see it. */
export interface SeenStarter {
  id: string;
  /** How often it has said that it is there: a process that does not count on is dead, whatever the clocks say. */
  beats: number;
  /** Its events from this time on may not be started. Milliseconds since the epoch, by its own clock. */
  since: number;
  /** It stores no event with an earlier id any more, unless it gives it a later position in the feed. The same. */
  settled: number;
  /** It begins first attempts before it has started their executions. */
  isEarly: boolean;
}

/** Processes that start executions. */
export interface Starters {
  /** Says that a process is there. @returns another text than before if it was forgotten meanwhile */
  beat(starter: Omit<SeenStarter, 'beats'>): Promise<string>;
  all(): Promise<SeenStarter[]>;
  /** Forgets a process, unless it has said since then that it is there. */
  forget(seen: Pick<SeenStarter, 'id'> & Partial<SeenStarter>): Promise<void>;
}
