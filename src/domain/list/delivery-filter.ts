import type { AttemptErrorCode } from '../attempt/attempt.js';
import type { ShownStatus } from '../delivery/delivery.js';
import type { AttemptFilter } from './attempt-filter.js';

/** Filter by events; also by a delivery's event. All that is given must hold. */
export interface EventFilter {
  event_id?: string | undefined;
  event_kind?: string | undefined;
  /** Token of a business key of the event. */
  key_token?: string | undefined;
  /** The event was accepted later than this. */
  created_after?: Date | undefined;
  created_before?: Date | undefined;
}

/** Filter by columns of rows. */
export interface RowFilter extends EventFilter {
  endpoint_id?: string | undefined;
  /** It has one of these. */
  statuses?: readonly ShownStatus[] | undefined;
}

/** Filter by the latest attempt of a delivery, which its record holds. */
export interface ResultFilter {
  /** Its latest attempt had no complete response, for this reason. */
  error_code?: AttemptErrorCode | undefined;
  /** Its latest attempt was answered with this. */
  status_code?: number | undefined;
}

/** Filter by records. */
export interface RecordFilter extends ResultFilter {
  /** It has an attempt like this, in whichever of its runs. */
  any_attempt?: AttemptFilter | undefined;
}

/** Filter of a list of deliveries. */
export type DeliveryFilter = RowFilter & RecordFilter;

/**
 * Meaning of each of some filters in one place: for the query of a store, or for one of its rows. A new filter needs an
 * entry in every table of meanings, or the program does not compile: so no list ignores it.
 */
export type Meanings<Filters, Meaning, Context = void> = {
  readonly [Name in keyof Filters]-?: (value: NonNullable<Filters[Name]>, context: Context) => Meaning;
};

/** The meanings of those filters that are given, in the order of the table. */
export function meaningsOf<Filters extends object, Meaning, Context>(
  table: Meanings<Filters, Meaning, Context>,
  filter: Filters,
  context: Context,
): Meaning[] {
  return (Object.keys(table) as (keyof Filters)[]).flatMap((name) => {
    const value = filter[name];
    return value === undefined || value === null ? [] : [table[name](value, context)];
  });
}

/** Filters that events alone do not answer. */
const ABOUT_DELIVERIES: {
  readonly [Name in keyof DeliveryFilter]-?: Name extends keyof EventFilter ? false : true;
} = {
  event_id: false,
  event_kind: false,
  key_token: false,
  created_after: false,
  created_before: false,
  endpoint_id: true,
  statuses: true,
  error_code: true,
  status_code: true,
  any_attempt: true,
};

/** Whether anything is said of deliveries besides of their events: a list of events looks at its deliveries then. */
export function asksForDeliveries(filter: DeliveryFilter): boolean {
  return (Object.keys(ABOUT_DELIVERIES) as (keyof DeliveryFilter)[]).some(
    (name) => ABOUT_DELIVERIES[name] && filter[name] !== undefined,
  );
}
