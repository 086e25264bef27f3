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
export type EventToArchive = Omit<ArchivedEvent, 'endpoint_ids' | 'carriers'> & {
  payload: string;
  /** The payload is sealed; absent if it is plain. */
  sealed?: SealedPayload;
  /** When the execution closed that it is kept as long as. */
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

/** What the archive has of a delivery. */
export interface KeptRun extends RunKey {
  revision: number;
  /** The log has its record. If not, a run has kept it and was interrupted, or is about to give it to the log. */
  isLogged: boolean;
}

/** An execution in the ledger with closed deliveries. */
export interface ClosedExecution {
  /** Its closed deliveries. */
  runs: RunKey[];
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
  known(ids: readonly string[]): Promise<Map<string, KeptRun>>;
  /** Keeps events at least as long as their deliveries. @returns what these need of them, by id */
  keepEvents(events: readonly EventToArchive[]): Promise<Map<string, SealedEvent>>;
  /** The salts of a record; `undefined` if the key of its event was erased. @param key of a {@link SealedEvent} */
  saltsOf(event: PayloadContext, key: string, record: RecordKey): Promise<RecordSalts | undefined>;
  /** Keeps deliveries that are not kept yet. Readers have them once the log has: {@link logKept}. */
  addDeliveries(deliveries: readonly SealableDelivery[]): Promise<void>;
  /** Puts a later run in the place of an earlier one. Readers have it at once. */
  replaceDelivery(delivery: SealableDelivery, before: KeptRun): Promise<void>;
  /**
   * Appends the records of deliveries that this run has kept, as they are stored, to the log, and notes their numbers.
   */
  logKept(kept: readonly KeptRecord[]): Promise<void>;
  /**
   * Does the same for deliveries that another run has kept, as they are stored: whatever is read of the same deliveries
   * now, no leaf is without its record. What somebody has altered meanwhile is left out.
   */
  logStored(ids: readonly string[]): Promise<void>;
  /** Does it for everything that some run has kept: it reads the whole archive. */
  logAllStored(): Promise<void>;
  /** Moves runs of deliveries in lists, to the positions that they have now. */
  move(runs: readonly RunKey[]): Promise<void>;
  /** Removes the payloads that are past their time. @returns how many */
  removePayloads(): Promise<number>;
}
