import { formatDuration } from '../basics/duration.js';
import { present } from '../basics/objects.js';
import type { EndpointStatus } from '../endpoint/endpoint.js';
import type { Attempt } from './attempt.js';
import type { AttemptReport, OutOfOrder } from './attempt-report.js';
import { describeAttempt } from './outcome.js';

/** Consequence of an attempt, besides its outcome. */
type AttemptEnd = 'last_of_schedule' | 'most_attempts' | 'endpoint_disabled' | 'address_blocked';

/** An attempt as a cause. */
export interface AttemptCause extends Pick<Attempt, 'number' | 'status_code' | 'error_code' | 'error'> {
  code: 'attempt';
  led_to?: AttemptEnd;
}

/** Why a delivery is as it is: facts, of which {@link reasonOf} makes text. A Temporal payload. */
export type Cause =
  | AttemptCause
  /** No attempt was made, because the endpoint takes none at the moment. */
  | {
      code: 'endpoint';
      status: Exclude<EndpointStatus, 'active'> | 'failing' | 'busy';
      /** Reason of that status, unless the endpoint's owner gave it: histories have no text of an owner. */
      said?: string;
      /** Failing: since when. ISO 8601, UTC. */
      since?: string;
      /** Busy: attempts that wait for its response. */
      in_flight?: number;
      /** Busy: as many as its owner allows at once. */
      most?: number;
    }
  /** It waits for its turn under the endpoint's rate limit. */
  | { code: 'deferred'; per_second: number }
  /** Another one of the same order key is in front of it. */
  | ({ code: 'order' } & Pick<OutOfOrder, 'number' | 'first'>)
  | { code: 'paused' | 'resumed' | 'cancelled'; by: string }
  | { code: 'endpoint_deleted' }
  | { code: 'erased' }
  /** It was parked for as long as it may be. */
  | { code: 'park_limit'; limit_ms: number; before?: Cause };

/** Reason of a delivery that is given up because its endpoint is gone. */
export const DELETED_REASON = 'The endpoint was deleted.';
/** Reason of a delivery that is given up because the key of its payload was erased. */
export const ERASED_REASON = 'The subject of the event was erased: its payload cannot be read any more.';

const LED_TO: Record<AttemptEnd, (number: number) => string> = {
  last_of_schedule: () => ' That was the last of the schedule.',
  most_attempts: (number) => ` A delivery has at most ${number} attempts.`,
  endpoint_disabled: () => ' The endpoint was disabled.',
  address_blocked: () => ' It waits until the endpoint has another URL, or is retried.',
};

/** An attempt, as the cause of what it led to. */
export function attemptCause({ number, status_code, error_code, error }: Attempt): AttemptCause {
  return present({ code: 'attempt', number, status_code, error_code, error });
}

/** Why no attempt was made. */
export function waitCause(report: Extract<AttemptReport, { kind: 'not_attempted' | 'out_of_order' }>): Cause {
  if (report.kind === 'out_of_order') return { code: 'order', number: report.number, first: report.first };
  const { endpoint, reason, since, in_flight, most } = report;
  if (endpoint === 'deleted') return { code: 'endpoint_deleted' };
  return present({ code: 'endpoint', status: endpoint, said: reason || undefined, since, in_flight, most });
}

/** Description of what happened last and what comes next, human-readable; `undefined` if only the status is known. */
export function reasonOf({
  cause,
  next_attempt_at,
  asked_to_wait,
}: {
  cause?: Cause;
  next_attempt_at?: string;
  asked_to_wait?: true;
}): string | undefined {
  if (!cause) return undefined;
  if (next_attempt_at === undefined) return textOf(cause);
  return `${textOf(cause)} Next attempt at ${next_attempt_at}${asked_to_wait ? ', as its Retry-After asked' : ''}.`;
}

function textOf(cause: Cause): string {
  switch (cause.code) {
    case 'attempt':
      return `Attempt ${cause.number} ${describeAttempt(cause)}.${cause.led_to ? LED_TO[cause.led_to](cause.number) : ''}`;
    case 'endpoint':
      return endpointText(cause);
    case 'deferred':
      return `Deferred: the endpoint gets at most ${cause.per_second} deliveries per second.`;
    case 'order':
      return orderText(cause);
    case 'paused':
      return `Paused by ${cause.by}.`;
    case 'resumed':
      return `Resumed by ${cause.by}.`;
    case 'cancelled':
      return `Cancelled by ${cause.by}.`;
    case 'endpoint_deleted':
      return DELETED_REASON;
    case 'erased':
      return ERASED_REASON;
    case 'park_limit': {
      const before = cause.before ? ` ${textOf(cause.before)}` : '';
      return `Parked for ${formatDuration(cause.limit_ms)}, the limit.${before}`;
    }
  }
}

function orderText({ number, first }: Extract<Cause, { code: 'order' }>): string {
  const waits = `Number ${number} of its order waits for number ${first.number} (${first.event_id}), `;
  return first.status === undefined
    ? `${waits}which is not delivered yet.`
    : `${waits}which is ${first.status}: until that is sent again and delivered, or the endpoint skips it.`;
}

function endpointText({
  status,
  said,
  since,
  in_flight,
  most,
}: Extract<Cause, { code: 'endpoint' }>): string {
  const facts = [
    ...(since === undefined ? [] : [`since ${since}, so new deliveries wait until it responds again.`]),
    ...(in_flight === undefined || most !== undefined
      ? []
      : [`${in_flight} attempts wait for its response.`]),
    ...(most === undefined ? [] : [`it takes at most ${most} at once (max_concurrency).`]),
    ...(said ? [said] : []),
  ];
  return `The endpoint is ${status}${facts.length > 0 ? `: ${facts.join(' ')}` : '.'}`;
}
