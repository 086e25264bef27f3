import type { OrderRule } from '../../../src/domain/event/ordering.js';

/**
 * Everything that a run saw, as plain data: what producers were answered, what receivers got, what every view of
 * Hookline says afterwards. The rules of the checker are functions of it.
 */
export interface Collected {
  posted: Posted[];
  received: Received[];
  endpoints: EndpointFacts[];
  /** Content of the feeds, by account. */
  feeds: Record<string, FeedViews>;
  /** Faults as they were made. */
  disruptions: Disruption[];
  acts: DoneAct[];
  /** Resources that had not come to rest long after the last fault. */
  unsettled: string[];
  deliveries: DeliveryViews[];
  events: EventViews[];
  /** Actions on deliveries, by `GET /changes`. */
  changes: ActChange[];
  /** Open deliveries that `GET /stats` counts, by account. */
  openInStats: Record<string, number>;
  log: LogViews;
  /** Differences that `hookline records verify` reported. */
  recordDifferences: string[];
}

/** An event that a producer wanted accepted, and what came of it. */
export interface Posted {
  accountId: string;
  /** In the payload: it says which post an event is of. */
  orderId: string;
  /** SHA-256 of the payload. */
  sha256: string;
  subject: string;
  /**
   * Absent: it was sent without `Idempotency-Key`, and not again after an answer that left open whether it was
   * accepted.
   */
  key?: string;
  /** Its order key, where its account has endpoints in order. */
  orderKey?: string;
  /** When it was posted first, milliseconds since the epoch. */
  postedMs?: number;
  /** It was scheduled: its id, and the time before which it is not to be sent, milliseconds since the epoch. */
  scheduled?: { id: string; deliverAtMs: number };
  /** Every answer, 0 for a connection that was lost. */
  answers: number[];
  /** It was not sent again, because its account was deleted meanwhile. */
  isGivenUp?: true;
  /** The event's ids in all 202, each once. */
  eventIds: string[];
  /** Time of the first 202, milliseconds since the epoch. */
  acknowledgedMs?: number;
  /** Deliveries that the 202 named, or their number. */
  deliveryIds?: string[];
  deliveryCount?: number;
}

/** A request at a receiver. Times are milliseconds since the epoch. */
export interface Received {
  path: string;
  eventId: string;
  /** `webhook-attempt` and `webhook-timestamp`. */
  attempt: number;
  timestamp: number;
  atMs: number;
  sha256: string;
  isSigned: boolean;
  /** `webhook-order`; absent where there was none, or none of its form. */
  order?: { number: number; previous?: number; key?: string };
  /** The status that was sent; absent where there was no answer, or none that is HTTP. */
  answered?: number;
  answeredMs?: number;
  /** Time that its `Retry-After` asked for. */
  notBeforeMs?: number;
}

export interface EndpointFacts {
  id: string;
  accountId: string;
  /** Path of its receiver. */
  path: string;
  /** Waits between attempts, milliseconds. */
  schedule: readonly number[];
  /** Absent: its deliveries are in no order. */
  order?: OrderRule;
}

/** An event as the feed shows it. */
export interface FeedItem {
  id: string;
  position: string;
}

/** The feed of an account. */
export interface FeedViews {
  /** By a reader that went on from page to page during the faults, in the order in which it got them. */
  followed: FeedItem[];
  /** From the beginning, after the faults. */
  whole: FeedItem[];
}

/** Something that was made to fail. Milliseconds since the epoch. */
export interface Disruption {
  name: string;
  fromMs: number;
  /** When it was over, with what had to start again. */
  toMs: number;
  /** When the last event was accepted that had been posted by then: on a busy machine, work is late until then. */
  calmMs?: number;
}

/** Something that was asked for while faults happened. */
export interface DoneAct {
  name: string;
  atMs: number;
  /** 0: no answer. */
  status: number;
  accountId: string;
  /** Resource of the action: a delivery, an endpoint, a subject. */
  resource: string;
}

/** A change of a delivery. */
export interface ActChange {
  deliveryId: string;
  /** As changes name it, such as `cancelled`. */
  action: string;
  at: string;
  /** Whether it was done; absent where changes do not say so, because all of them were. */
  outcome?: string;
}

/** An attempt as a view shows it. */
export interface AttemptFacts {
  number: number;
  /** ISO 8601, UTC. */
  at: string;
  duration_ms: number;
  trigger: string;
  webhook_timestamp?: number;
  status_code?: number;
  error_code?: string;
  /** Earlier tries of it whose end was lost: their requests may have arrived. */
  lost_tries?: number;
}

/** A delivery as a list, an event or the delivery itself shows it. */
export interface Row {
  id: string;
  event_id: string;
  endpoint_id: string;
  status: string;
  created_at: string;
  started_at: string;
  closed_at?: string;
  reason?: string;
  workflow_id: string;
  run_id: string;
}

export interface Intervention {
  action: string;
  at: string;
  by: string;
}

/** A delivery by itself, or as an export has it. */
export interface FullRow extends Row {
  attempts: AttemptFacts[];
  interventions?: Intervention[];
  earlier_runs?: {
    run_id: string;
    status: string;
    attempts: AttemptFacts[];
    interventions?: Intervention[];
  }[];
  payload_sha256?: string;
  payload_erased?: true;
}

/** One delivery in all views; absent where a view does not have it. */
export interface DeliveryViews {
  id: string;
  accountId: string;
  eventId: string;
  endpointId: string;
  listed?: Row;
  /** It was read by itself: if not, `single`, `timeline`, `explained`, `certified` and `ofEvent` were not asked for. */
  isRead?: true;
  ofEvent?: Row;
  single?: FullRow;
  /** `attempts`: when each was made. */
  timeline?: { status?: string; attempts: string[] };
  explained?: { code: string; status?: string; attempts?: number };
  exported?: FullRow;
  /** The record in its certificate, or why there is none that holds. */
  certified?: { status: string; attempts: number } | { problem: string };
  /** Each execution in Temporal that stands for it, with what it says. */
  executions: { workflowId: string; runId: string; isOpen: boolean }[];
}

/** One event in all views. */
export interface EventViews {
  id: string;
  accountId: string;
  isListed: boolean;
  /** Absent: it was not asked for. */
  single?: { status: number; orderId?: string; isErased: boolean; deliveries: string[] };
  exported?: { orderId?: string; isErased: boolean };
}

export interface LogViews {
  /** Checkpoints that were read, in the order in which they were. */
  checkpoints: { atMs: number; size: number; root: string }[];
  /** Faults: of a signature, or of a proof between two of them. */
  problems: string[];
}
