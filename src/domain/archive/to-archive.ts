import type { PayloadContext, SealedPayload } from '../privacy/payload-sealer.js';
import type { ArchivedDelivery, ArchivedEvent } from './archived.js';
import type { RecordKey, RecordSalts } from './commitments.js';
import type { ClosedDelivery } from './record.js';

/**
 * Visibility can list an execution late: what closed so shortly before the end of a run is looked at again.
 * Milliseconds.
 */
export const LOOKED_AT_AGAIN_MS = 60_000;

/** What an execution leaves to the archive. */
export interface ExecutionToArchive {
  deliveries: DeliveryToArchive[];
  events: EventToArchive[];
}

/** A closed delivery that has no revision yet, because that depends on what is archived of it. */
export interface DeliveryToArchive extends Omit<ArchivedDelivery, 'revision' | 'record'> {
  /** What its record is made of. */
  closed: ClosedDelivery;
}

/** An event with the payload, as an execution was started with it. */
export type EventToArchive = ArchivedEvent & {
  payload: string;
  /** The payload is sealed; absent if it is plain. */
  sealed?: SealedPayload;
  /** When the execution closed that it is kept with. */
  closed_at: Date;
};

/** An event whose payload has been sealed. */
export interface SealedEvent {
  /** To its payload; see `DeliveryRecord`. */
  commitment: string;
  /** A text that names the key which sealed the payload, and seals what else is told of the event. */
  key: string;
}

/** A delivery to keep, with the key of its event. */
export type SealableDelivery = ArchivedDelivery & Pick<SealedEvent, 'key'>;

/** The record of a delivery, as this process has made it. */
export type KeptRecord = Pick<ArchivedDelivery, 'id' | 'record'>;

/** Executions that closed in a period are looked for a second time. */
export interface SecondLook {
  from: Date;
  to: Date;
  /** When they were looked for the first time. */
  at: Date;
}

/** What is known of a run of a delivery before it is read. */
export type RunKey = Pick<ArchivedDelivery, 'id' | 'run_id' | 'run_order' | 'position'>;

/** An execution in the ledger with closed deliveries, or that has started those of an event. */
export interface ClosedExecution {
  /** Its closed deliveries; none if it only started some. */
  runs: RunKey[];
  /** The events that it stands for in lists, with their positions; none while it is open. */
  heads: readonly (readonly [eventId: string, position: string])[];
  /** Reads what it leaves to the archive. @param ids of the deliveries that are wanted */
  read(ids: ReadonlySet<string>): Promise<ExecutionToArchive>;
}

/** Executions that closed in a window: from one time until before another. */
export interface ClosedWindow {
  from: Date;
  to: Date;
  executions: ClosedExecution[];
}

/** Finds what the ledger has to be archived. */
export interface ClosedExecutions {
  /**
   * The executions that closed in a window.
   *
   * @param end where the window ends at the latest
   * @param widthMs how wide it should be; it turns out smaller if too much has closed in it
   */
  closedFrom(from: Date, end: Date, widthMs: number): Promise<ClosedWindow>;
  /** Groups that are open, with closed deliveries among their members. */
  openGroups(): AsyncIterable<ClosedExecution>;
}

/** What is kept of an archive run. */
export interface ArchiveWrites {
  /** Executions that closed before this have been archived; `undefined` if none has. */
  upTo(): Promise<Date | undefined>;
  advance(upTo: Date): Promise<void>;
  /** What is to be looked for a second time; `undefined` before the first run has ended. */
  secondLook(): Promise<SecondLook | undefined>;
  setSecondLook(look: SecondLook): Promise<void>;
  /** What is archived of some deliveries, by id. */
  known(ids: readonly string[]): Promise<Map<string, RunKey & { revision: number }>>;
  /** Keeps events. @returns what their deliveries need of them, by id */
  saveEvents(events: readonly EventToArchive[]): Promise<Map<string, SealedEvent>>;
  /** The salts of a record; `undefined` if the key of its event was erased. @param key of a {@link SealedEvent} */
  saltsOf(event: PayloadContext, key: string, record: RecordKey): Promise<RecordSalts | undefined>;
  /**
   * Notes that deliveries are about to be kept: what the log does not have of them if the run is interrupted,
   * {@link logLeft} gives to it.
   */
  beginKeeping(ids: readonly string[]): Promise<void>;
  /** Keeps deliveries that are not kept yet. Readers have them once the log has: {@link logKept}. */
  addDeliveries(deliveries: readonly SealableDelivery[]): Promise<void>;
  /** Puts a later run in the place of an earlier one. Readers have it at once. */
  replaceDelivery(delivery: SealableDelivery, before: RunKey & { revision: number }): Promise<void>;
  /**
   * Appends the records of deliveries that were kept, as they are stored, to the log, and notes their numbers. That
   * ends what {@link beginKeeping} has begun.
   */
  logKept(kept: readonly KeptRecord[]): Promise<void>;
  /**
   * Appends records that interrupted runs have kept, as they are stored: whatever this run reads of the same
   * deliveries, no leaf is without its record. What somebody has altered meanwhile is left out.
   */
  logLeft(): Promise<void>;
  /** Moves deliveries in lists. @param positions by id */
  move(positions: ReadonlyMap<string, string>): Promise<void>;
  /** Puts events into lists, those that are kept: what stands for them has closed. @param positions by id */
  place(positions: ReadonlyMap<string, string>): Promise<void>;
  /** Removes the payloads that are past their time. @returns how many */
  removePayloads(): Promise<number>;
}
