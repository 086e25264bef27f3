import { decidingClauses, describeCondition } from '../../../packages/payload-contract/src/filter/index.js';
import { idTime } from '../basics/id-time.js';
import { refusalOf, type Subscription } from '../delivery/recipients.js';
import { TEST_KIND } from '../event/event-kinds.js';
import type { Verdict } from './verdict.js';

/** An event, as far as it decides who gets it. */
export interface ExplainedEvent {
  id: string;
  kind: string;
  /** ISO 8601, UTC. */
  created_at: string;
  /** Parsed, or its values; `undefined` once it is no longer kept. */
  payload: unknown;
  /** Why there is no payload: it was erased, or it is too old. */
  is_erased?: boolean;
  /** It is a test of one endpoint, whatever that is registered for. */
  is_test?: boolean;
  /** The endpoints that its producer named; absent: it went to all that matched. */
  named_endpoints?: readonly string[];
}

/** State of an endpoint at some time. */
export type EndpointThen =
  | { state: 'existed'; endpoint: Subscription }
  /** Not yet registered, or deleted. */
  | { state: 'absent' }
  /** Its state is no longer kept. */
  | { state: 'not_kept' };

/** Facts about an endpoint that has no delivery of an event. */
export interface EndpointFacts {
  id: string;
  /** When the event was accepted. */
  atAcceptance: EndpointThen;
  /** {@link NOTICED_WITHIN_MS} earlier: a process may have acted upon that. */
  shortlyBefore: EndpointThen;
  /** When and by whom it was deleted, if it was. */
  deleted?: { at: string; by: string } | undefined;
}

/** A process that accepts events knows of a change to an endpoint within this time, milliseconds. */
export const NOTICED_WITHIN_MS = 2_000;

/**
 * Why an endpoint has no delivery of an event.
 *
 * @param event absent if the account has no such event
 * @param endpoint absent if the account never had such an endpoint
 */
export function explainAbsence(
  event: ExplainedEvent | undefined,
  endpoint: EndpointFacts | undefined,
): Verdict {
  if (!event)
    return {
      code: 'event_unknown',
      summary: 'There is no such event: none was accepted, or it is older than what is kept.',
    };
  if (!endpoint)
    return { code: 'endpoint_unknown', summary: 'The account has never had an endpoint with this id.' };
  if (event.is_test || event.kind === TEST_KIND)
    return {
      code: 'test_of_another_endpoint',
      summary:
        'The event is a test of another endpoint. Tests go to the endpoint that they test, and to no other.',
    };
  if (event.named_endpoints?.includes(endpoint.id) === false)
    return {
      code: 'not_named',
      summary: `The event was sent to named endpoints only: ${event.named_endpoints.join(', ')}. This one is not among them.`,
    };
  const now = absenceAt(event, endpoint, endpoint.atAcceptance);
  if (now) return now;
  const before = absenceAt(event, endpoint, endpoint.shortlyBefore, NOTICED_WITHIN_MS);
  if (before)
    return {
      code: 'changed_just_before',
      summary:
        `The endpoint was changed less than ${NOTICED_WITHIN_MS / 1_000} s before the event was accepted, ` +
        `and the process that accepted it did not know yet. As it was before: ${before.summary}`,
      ...(before.clauses && { clauses: before.clauses }),
    };
  return {
    code: 'not_found',
    summary:
      'The endpoint was to get the event, but no delivery is found: it was accepted a moment ago, or is older than what is kept.',
  };
}

/** Why an endpoint has not got an event that is to be sent later. @param at ISO 8601, UTC */
export function explainScheduled(at: string): Verdict {
  return {
    code: 'scheduled',
    summary: `The event is scheduled for ${at}. The endpoints that it goes to are chosen then.`,
    next_attempt_at: at,
  };
}

/** Why an endpoint has not got the event yet: as long as some deliveries are still started, this may be one of them. */
export function explainStarting({ started, total }: { started: number; total: number }): Verdict {
  return {
    code: 'not_started_yet',
    summary: `The event's deliveries are being started: ${started} of ${total} so far.`,
  };
}

/** Verdict on a delivery without a row, while Temporal is away. */
export const STARTED_IF_TEMPORAL_KNOWS: Verdict = {
  code: 'not_started_yet',
  summary:
    'Nothing is recorded of the delivery yet. Temporal knows whether it is started, and is unavailable.',
};

/**
 * Why an endpoint that was like this did not get the event; `undefined` if it was to get it.
 *
 * @param earlierMs how long before the event was accepted `then` is
 */
function absenceAt(
  event: ExplainedEvent,
  { id, deleted }: EndpointFacts,
  then: EndpointThen,
  earlierMs = 0,
): Verdict | undefined {
  if (then.state === 'not_kept')
    return {
      code: 'not_kept',
      summary: `What the endpoint was at ${event.created_at} is not kept any more.`,
    };
  if (then.state === 'absent') {
    const registeredAt = idTime(id);
    const registered = new Date(registeredAt).toISOString();
    if (registered > event.created_at)
      return {
        code: 'registered_later',
        summary: `The endpoint was registered at ${registered}, after the event was accepted at ${event.created_at}.`,
        since: registered,
      };
    if (registeredAt > Date.parse(event.created_at) - earlierMs)
      return {
        code: 'registered_later',
        summary: `It was not there. It was registered at ${registered}; the event was accepted at ${event.created_at}.`,
        since: registered,
      };
    return {
      code: 'deleted_before',
      summary: `The endpoint was deleted${deleted ? ` at ${deleted.at} by ${deleted.by}` : ''}, before the event was accepted at ${event.created_at}.`,
      ...(deleted && { since: deleted.at, by: deleted.by }),
    };
  }
  const { endpoint } = then;
  switch (refusalOf(endpoint, event.kind, event.payload)) {
    case 'pending':
      return {
        code: 'pending_then',
        summary: `The endpoint had not been verified when the event was accepted at ${event.created_at}, and got no events.`,
        since: endpoint.status_changed_at,
      };
    case 'kind':
      return {
        code: 'kind_not_registered',
        summary: `The endpoint was not registered for ${event.kind} when the event was accepted, but for ${endpoint.event_kinds.join(', ')}.`,
      };
    case 'filter': {
      if (event.payload === undefined && event.is_erased === false)
        return {
          code: 'not_kept',
          summary: "The payload is no longer kept, so it is not known whether it met the endpoint's filter.",
        };
      if (event.payload === undefined)
        return {
          code: 'subject_erased',
          summary:
            "The subject of the event was erased, so its payload cannot be compared any more with the endpoint's filter at that time.",
        };
      const clauses = endpoint.filter ? decidingClauses(endpoint.filter, event.payload) : [];
      // The sentence leaves out the payload's value, which is in the clauses.
      const told = clauses.map(({ condition }) => describeCondition(condition)).join('; ');
      return {
        code: 'filter_not_met',
        summary: `The payload did not meet the endpoint's filter as it was when the event was accepted: ${told}.`,
        clauses,
      };
    }
    default:
      return undefined;
  }
}
