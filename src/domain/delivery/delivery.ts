import type { Attempt } from '../attempt/attempt.js';
import { type Cause, reasonOf } from '../attempt/cause.js';
import { present } from '../basics/objects.js';

/**
 * Where an open delivery stands: `delivering` (first attempt), `retrying` (waiting for, or making, a later one),
 * `parked` (its endpoint takes nothing at the moment, or somebody paused it).
 */
export const OPEN_STATUSES = ['delivering', 'retrying', 'parked'] as const;

export type OpenStatus = (typeof OPEN_STATUSES)[number];

/** How a delivery ends. */
export const CLOSED_STATUSES = ['delivered', 'exhausted', 'expired', 'cancelled'] as const;

export type ClosedStatus = (typeof CLOSED_STATUSES)[number];

export const DELIVERY_STATUSES = [...OPEN_STATUSES, ...CLOSED_STATUSES] as const;

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/**
 * The statuses that a delivery is shown with: its own, or `terminated` if somebody terminated its execution in
 * Temporal.
 */
export const SHOWN_STATUSES = [...DELIVERY_STATUSES, 'terminated'] as const;

export type ShownStatus = (typeof SHOWN_STATUSES)[number];

/** Whether nothing more happens to a delivery of that status, unless it is sent again. */
export function isClosed(status: ShownStatus): boolean {
  return !OPEN_STATUSES.some((open) => open === status);
}

/**
 * Something that an operator did to a delivery: to a live one, or `resend` to a closed one, which began this run.
 * `replay` began a delivery of an event that the endpoint never had. `terminate` is done to its execution, by
 * Temporal's own means: the delivery does not learn of it.
 */
export interface Intervention {
  action: 'retry' | 'cancel' | 'pause' | 'resume' | 'resend' | 'replay' | 'terminate';
  /** ISO 8601, UTC. */
  at: string;
  /** An API key's id, or the name that was given in Temporal UI. */
  by: string;
  /** The replay that did it, which that key started. */
  replay?: string;
}

/** A delivery's whole record, as its execution's history tells it. */
export interface DeliveryRecord {
  status: DeliveryStatus;
  attempts: Attempt[];
  /** Open and waiting: when the next attempt is due. ISO 8601, UTC. */
  next_attempt_at?: string;
  /** The endpoint asked for that time. */
  asked_to_wait?: true;
  /** Why it is as it is; absent of a first attempt under way. */
  cause?: Cause;
  /** When it closed, unless its last attempt closed it at once. ISO 8601, UTC. */
  closed_at?: string;
  interventions?: Intervention[];
}

/** A record as it is shown, with its cause as text, and with what was done to its execution. */
export type ShownRecord = Omit<DeliveryRecord, 'status'> & {
  status: ShownStatus;
  /** Description of what happened last and what comes next, human-readable. */
  reason?: string;
};

/** A record with its cause as text. */
export function shownRecord(record: DeliveryRecord): ShownRecord {
  return present({ ...record, reason: reasonOf(record) });
}

/**
 * Why a delivery is as it is. Some records do not say: of a first attempt under way nothing is written, and lists know
 * of a success only that it was one, so every view says that alone.
 */
export function shownReason(status: ShownStatus, reason: string | undefined): string {
  if (status === 'delivered') return 'The endpoint responded with 2xx.';
  return reason ?? 'The first attempt is under way, or begins as soon as a worker is free.';
}

/** Whether somebody has paused a delivery, and nobody has resumed it. */
export function isPaused({ status, interventions = [] }: DeliveryRecord): boolean {
  const last = interventions.findLast(({ action }) => action === 'pause' || action === 'resume');
  return status === 'parked' && last?.action === 'pause';
}

/** Settings of a delivery. It is input of its workflow, so a later change bends no live delivery. */
export interface DeliverySettings {
  /** Waits between attempts, milliseconds. */
  schedule: readonly number[];
  /** Time for an endpoint to answer, milliseconds. */
  attempt_timeout_ms: number;
  /** How long a delivery may be parked before it expires, milliseconds. */
  park_limit_ms: number;
}

/** An event as every delivery of it has it. */
export interface AcceptedEvent {
  account_id: string;
  event_id: string;
  event_kind: string;
  /** The body as received. */
  payload: string;
  /** ISO 8601, UTC. */
  accepted_at: string;
  /** Tokens of its business keys, as they stand with event and rows; absent if it has none. */
  keys?: string[];
  /** Its number among the events that its account has posted; absent for those that Hookline makes itself. */
  sequence?: number;
  /** It is a test of one endpoint, whatever its kind: it goes to no other, and no other has missed it. */
  is_test?: true;
  /** The endpoints that its producer named: it goes to no other. Absent: to all that match. */
  named_endpoints?: readonly string[];
  /** The request that it was accepted by, as a `traceparent` header; absent if that is not traced. */
  traceparent?: string | undefined;
  /** Its `tracestate` header, if it has one (W3C Trace Context, section 3.3). */
  tracestate?: string | undefined;
}

/** An event as executions have it: nothing of what it says, which stands in MongoDB. A Temporal payload. */
export type NamedEvent = Pick<
  AcceptedEvent,
  'account_id' | 'event_id' | 'event_kind' | 'accepted_at' | 'traceparent' | 'tracestate'
>;

export function namedEvent(event: NamedEvent): NamedEvent {
  const { account_id, event_id, event_kind, accepted_at, traceparent, tracestate } = event;
  return present({ account_id, event_id, event_kind, accepted_at, traceparent, tracestate });
}

/** Where an event goes. */
export interface DeliveryTarget {
  endpoint_id: string;
  /** The endpoint's own waits between attempts, milliseconds; absent if it has the installation's. */
  schedule?: readonly number[];
  /** Token of the order key by which the endpoint has the event delivered; absent without an order. */
  order_key?: string;
}

/** A target whose host is known: for people who read summaries. */
export interface NamedTarget extends DeliveryTarget {
  host?: string | undefined;
}

/** One delivery of a group. */
export interface GroupMember extends DeliveryTarget {
  /** Its event's place in the group's list of events. */
  event: number;
}

/**
 * The most deliveries in a group: the ids of this many accounts, events or endpoints fit into one search attribute, of
 * which Temporal takes 2 KiB by default (`frontend.searchAttributesSizeOfValueLimit`).
 */
export const MAX_GROUP_SIZE = 60;

/**
 * The most in a group of one event's deliveries, where Temporal is set to take 4 KiB. They wait for nobody, and have
 * one payload.
 */
export const MAX_EVENT_GROUP_SIZE = 120;

/** Up to this many deliveries of an event are started as groups; a fan-out, a workflow of its own, starts more. */
export const MAX_STARTED_AT_ONCE = 5 * MAX_GROUP_SIZE;

/** Deliveries whose first attempts are made together, and the events they are of. */
export interface DeliveryGroup {
  events: NamedEvent[];
  deliveries: GroupMember[];
}
