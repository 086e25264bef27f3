import type { AttemptFilter } from '../../domain/list/attempt-filter.js';
import {
  type DeliveryFilter,
  type EventFilter,
  type Meanings,
  meaningsOf,
} from '../../domain/list/delivery-filter.js';
import type { EventDocument } from '../event/event-document.js';
import { withoutNulls } from '../mongo/collection.js';
import type { DeliveryDocument } from './row-documents.js';

/** Condition of fields. */
type Condition = Record<string, unknown>;
/** Condition of fields that documents have: one of another field is not compiled. */
type ConditionOn<Document> = { [Name in keyof Document]?: unknown };

/** Conditions of filters on rows. The embedded server looks at conditions in their order. */
const OF_DELIVERY: Meanings<DeliveryFilter, ConditionOn<DeliveryDocument>> = {
  event_kind: (event_kind) => ({ event_kind }),
  key_token: (token) => ({ keys: token }),
  created_after: (time) => ({ accepted_at: { $gt: time } }),
  created_before: (time) => ({ accepted_at: { $lt: time } }),
  event_id: (event_id) => ({ event_id }),
  endpoint_id: (endpoint_id) => ({ endpoint_id }),
  statuses: (some) => ({ status: some.length === 1 ? some[0] : { $in: [...some] } }),
  error_code: (error_code) => ({ error_code }),
  status_code: (status_code) => ({ status_code }),
  any_attempt: hasAttempt,
};

/** Conditions of filters on events. */
const OF_EVENT: Meanings<EventFilter, ConditionOn<EventDocument>> = {
  event_kind: OF_DELIVERY.event_kind,
  key_token: OF_DELIVERY.key_token,
  created_after: OF_DELIVERY.created_after,
  created_before: OF_DELIVERY.created_before,
  event_id: (_id) => ({ _id }),
};

/** The conditions of rows that may match: of attempts, what is told of them without reading them. */
export function deliveryConditions(filter: DeliveryFilter): Condition {
  return together(meaningsOf(OF_DELIVERY, filter, undefined));
}

/** The conditions of events that match. */
export function eventConditions(filter: EventFilter): Condition {
  return together(meaningsOf(OF_EVENT, filter, undefined));
}

/** One condition of several; of one field there may be two. */
function together(conditions: readonly object[]): Condition {
  const all: Condition = {};
  for (const [field, value] of conditions.flatMap((condition) => Object.entries(condition)))
    all[field] = field in all ? { ...(all[field] as object), ...(value as object) } : value;
  return all;
}

function hasAttempt({
  error_code,
  status_code,
  longer_than_ms,
}: AttemptFilter): ConditionOn<DeliveryDocument> {
  const results = error_code ?? (status_code === undefined ? undefined : String(status_code));
  return withoutNulls({
    results,
    longest_ms: longer_than_ms === undefined ? undefined : { $gt: longer_than_ms },
  });
}
