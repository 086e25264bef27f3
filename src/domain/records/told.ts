import type { DeliveryKey } from '../basics/delivery-id.js';
import type { Intervention, ShownStatus } from '../delivery/delivery.js';
import type { GroupMachine, LiveGroup } from '../delivery/delivery-group.js';
import type { DeliverySnapshot } from '../delivery/delivery-state.js';
import type { TimelineItem } from '../explain/timeline.js';
import type { PayloadContext } from '../privacy/payload-sealer.js';
import type { RecordKey, RecordSalts } from './commitments.js';
import type { EventOfRow, RunSoFar, WholeDelivery } from './row/whole-delivery.js';
import type { DeliveryRow } from './stored.js';

/** The run of an execution that tells of deliveries. A Temporal payload. */
export interface ToldRun {
  workflow_id: string;
  run_id: string;
  /** When the deliveries were started in this execution, whichever of its runs this is. ISO 8601, UTC. */
  started_at: string;
  /** The execution has several deliveries. */
  in_group?: true;
  /** The run goes on from an earlier one, or takes the place of one that is lost. */
  continues?: true;
  /** The run that it goes on from. */
  continued?: string;
  /** It was started, and not made by a reset or a run before it. */
  is_first?: true;
}

/** A delivery as its execution has it. A Temporal payload. */
export interface ToldDelivery extends DeliveryKey {
  account_id: string;
  event_kind: string;
  snapshot: DeliverySnapshot;
  /** How many attempts its schedule has. */
  max_attempts: number;
  /** Token that stands for the order key of the event; absent without an order. */
  order_key?: string;
  /** Timeline entries since the last report that its record does not contain. */
  said?: TimelineItem[];
}

/** Report of an execution on its deliveries, to be stored. A Temporal payload. */
export interface Told {
  run: ToldRun;
  /** Number of the report: a later one of the same run has a higher one, and so has a task that repeats a lost one. */
  turn: number;
  /** When it happened, by the workflow's time. ISO 8601, UTC. */
  at: string;
  deliveries: ToldDelivery[];
  /**
   * The activity that makes the attempts tells it. A row with more attempts stays, and the activity takes it over: a
   * task that was taken for lost has made them, and kept the row late.
   */
  takes_over?: true;
}

/** A delivery of a group, as it is told of; `undefined` if there is none. */
export function toldOf(group: LiveGroup, machine: GroupMachine, index: number): ToldDelivery | undefined {
  const delivery = group.deliveries[index];
  const event = delivery && group.events[delivery.event];
  const snapshot = machine.member(index)?.snapshot;
  if (!event || !snapshot) return undefined;
  const { endpoint_id, schedule = group.schedule, order_key } = delivery;
  const { account_id, event_id, event_kind } = event;
  const max_attempts = schedule.length + 1;
  const of = { account_id, event_id, event_kind, endpoint_id, ...(order_key && { order_key }) };
  return { ...of, snapshot, max_attempts };
}

/** Keeps what executions tell of their deliveries. */
export interface DeliveryRows {
  /**
   * Keeps rows of deliveries, and the records of those that have closed. A repeated entry is stored once; what somebody
   * has told later stays.
   *
   * @param isNew nothing was told of these deliveries before, as far as is known: they are not looked for first
   * @returns the ids of those of which something else was told in the meantime, or later
   */
  keep(told: Told, isNew?: boolean): Promise<Set<string>>;
  /**
   * Deliveries that a run has told of, by id: who makes an attempt that may have been made before takes what is
   * recorded in its place. In whatever turn: the process that had begun it may have stored its row late.
   */
  recorded(runId: string, keys: readonly DeliveryKey[]): Promise<Map<string, DeliverySnapshot>>;
  /** Closes the rows of those deliveries of an execution that were open when it was terminated. */
  terminated(execution: TerminatedExecution): Promise<void>;
}

/** An execution that somebody has terminated in Temporal. It cannot tell of it itself. */
export interface TerminatedExecution {
  run: ToldRun;
  keys: readonly DeliveryKey[];
  /** Human-readable: who, and the reason that they gave. */
  reason: string;
  intervention: Intervention;
}

/** How a delivery has ended by what Temporal knows, and MongoDB does not: it was restored from an older copy. */
export interface KnownEnd {
  run: ToldRun;
  status: ShownStatus;
  /** ISO 8601, UTC. */
  at: string;
  /** Human-readable. */
  reason: string;
  /** Termination of the execution, if it was terminated. */
  intervention?: Intervention;
}

export interface TerminatedExecutions {
  /**
   * Those that have closed since a time, and have no later run.
   *
   * @param now by Temporal's clock: of a fan-out that has just closed the next look tells
   * @param onUnreadable called with what is wrong with one that is left out: the others are found
   */
  since(time: Date, now: Date, onUnreadable: (error: unknown) => void): AsyncIterable<TerminatedExecution>;
}

/** An event as rows of its deliveries need it, with what seals and commits to their texts. */
export interface EventForRows extends EventOfRow {
  /** A text that names the data key of the event. */
  key: string;
  /** To its payload; see `DeliveryRecord`. */
  commitment: string;
}

/** State that is stored of a delivery. */
export interface KnownRow extends RunSoFar {
  id: string;
  /** Absent if somebody has altered it: nothing of it goes into another one. */
  whole?: WholeDelivery;
  revision: number;
  isClosed: boolean;
  /** Tag of the row as it was read. */
  tag: string;
  /** Segment of the record, if the row is closed. */
  segment?: string;
}

/** A row to write. */
export interface RowToWrite {
  row: DeliveryRow & Pick<EventForRows, 'key'>;
  /** The tag of the row in whose place it is written; absent: there is none. */
  before?: string | undefined;
  /** It was closed, and only says more of that: usage has its close already. */
  isRetold?: boolean;
}

/** Stored rows. */
export interface RowStore {
  /** Events by id; one that is not what was written is an error in its place, and one past its time is absent. */
  eventsOf(ids: readonly string[]): Promise<Map<string, EventForRows | Error>>;
  known(ids: readonly string[]): Promise<Map<string, KnownRow>>;
  /** The salts of a record; `undefined` if the key of its event was erased. @param key of the event */
  saltsOf(event: PayloadContext, key: string, record: RecordKey): Promise<RecordSalts | undefined>;
  /**
   * Writes rows, and then a segment of the records among them.
   *
   * @returns the ids of those in whose place somebody else has written meanwhile: they are not written
   */
  write(rows: readonly RowToWrite[]): Promise<Set<string>>;
  /**
   * Makes a segment of closed rows whose own is not there: the process that wrote them was killed, or is not that far
   * yet.
   *
   * @returns whether there were any: they name another segment now
   */
  adopt(rows: readonly { id: string; segment: string }[]): Promise<boolean>;
}
