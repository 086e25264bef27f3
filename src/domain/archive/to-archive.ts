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

/** A delivery to keep, and what it is kept in place of. */
export interface DeliveryToKeep {
  delivery: SealableDelivery;
  /** An earlier run, as it was known; absent: nothing was kept of it. */
  before?: KeptRun | undefined;
}

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
  /** The segment that names its record, as soon as it is there. */
  segment: string;
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
  rows: RowWrites;
  /** Keeps events at least as long as their deliveries. @returns what these need of them, by id */
  keepEvents(events: readonly EventToArchive[]): Promise<Map<string, SealedEvent>>;
  /** The salts of a record; `undefined` if the key of its event was erased. @param key of a {@link SealedEvent} */
  saltsOf(event: PayloadContext, key: string, record: RecordKey): Promise<RecordSalts | undefined>;
  /** Removes the payloads that are past their time. @returns how many */
  removePayloads(): Promise<number>;
}

/** What is kept of closed deliveries: a row of each, and segments, which have the log take their records. */
export interface RowWrites {
  /** What is kept of some deliveries, by id. */
  known(ids: readonly string[]): Promise<Map<string, KeptRun>>;
  /** Keeps deliveries together, those that nobody else has kept meanwhile. */
  keep(some: readonly DeliveryToKeep[]): Promise<void>;
  /**
   * Makes a segment of those of some deliveries, as they are kept, whose own is not there: a run was interrupted before
   * it had made it. What somebody has altered meanwhile is left out.
   *
   * @returns whether there were any
   */
  adopt(some: readonly KeptRun[]): Promise<boolean>;
  /** Does it for everything that is kept: it reads the whole archive. */
  adoptAll(): Promise<void>;
  /** Moves runs of deliveries in lists, to the positions that they have now. */
  move(runs: readonly RunKey[]): Promise<void>;
}
