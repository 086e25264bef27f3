import type { Attempt } from '../attempt/attempt.js';
import { DELETED_REASON, ERASED_REASON } from '../attempt/cause.js';
import { describeAttempt } from '../attempt/outcome.js';
import { formatDuration } from '../basics/duration.js';
import { isId } from '../basics/ids.js';
import { present } from '../basics/objects.js';
import { type Intervention, isClosed, type ShownRecord } from '../delivery/delivery.js';
import type { KnownIncident } from '../endpoint/breaker/incident.js';
import { type EndpointStatus, GONE } from '../endpoint/endpoint.js';
import { quoted } from '../text/plain.js';
import { explainFailing, type FailingTask, keepsFailing } from './failing-task.js';
import type { Verdict, VerdictCode } from './verdict.js';

/** A delivery, as far as it says why it is as it is. */
export interface ExplainedDelivery extends ShownRecord {
  /** Absent if the workflow task of its execution has not failed, or has succeeded since. */
  failing_task?: FailingTask | undefined;
  /** Difference of its event, which somebody has altered in the database: a sentence that begins with its id. */
  event_altered?: string | undefined;
}

/** The delivery's endpoint as it is now. */
export interface EndpointNow {
  status: EndpointStatus;
  status_reason?: string | undefined;
  status_changed_at: string;
  /** Author of this status, if known. */
  status_changed_by?: string | undefined;
  incident?: KnownIncident | undefined;
}

type Deleted = { at: string; by: string };

/** Why a delivery is as it is. */
export function explainDelivery(...facts: Parameters<typeof verdictOf>): Verdict {
  return present(verdictOf(...facts));
}

/**
 * @param endpoint absent if it has been deleted
 * @param deleted when and by whom, if that is known
 * @param now milliseconds since the epoch
 */
function verdictOf(
  delivery: ExplainedDelivery,
  endpoint: EndpointNow | undefined,
  deleted: Deleted | undefined,
  now: number,
): Verdict {
  const { status, attempts, reason = '', closed_at: since, failing_task, event_altered } = delivery;
  // A failing workflow task blocks the delivery: neither timers nor actions take effect.
  if (failing_task && keepsFailing(failing_task) && !isClosed(status))
    return explainFailing(failing_task, 'delivery');
  // No attempt is made of what nobody has sent.
  if (event_altered !== undefined && !isClosed(status)) return explainAltered(event_altered);
  const last = attempts.at(-1);
  switch (status) {
    case 'delivered':
      return last
        ? { code: 'delivered', summary: `Delivered at ${endOf(last)}: ${told(last)}.`, since: endOf(last) }
        : { code: 'delivered', summary: 'Delivered.', since };
    case 'exhausted':
    case 'expired':
      return { code: status, summary: (reason || `The delivery is ${status}.`) + formOf(last), since };
    case 'cancelled':
      return explainCancelled(delivery, deleted);
    case 'parked':
      return explainParked(delivery, endpoint);
    case 'delivering':
    case 'retrying':
      return explainWait(delivery, now);
    case 'terminated':
      return {
        code: 'terminated',
        summary: reason || 'The execution was terminated in Temporal.',
        since,
        by: lastOf(delivery, 'terminate')?.by,
      };
  }
}

function explainAltered(event: string): Verdict {
  return {
    code: 'event_altered',
    summary:
      `No attempt is made, because somebody has altered the event in the database: ${event}. ` +
      'The operator of the installation must act: see the runbook of the alert HooklineLogAltered. ' +
      'The delivery goes on when the event is as it was accepted.',
  };
}

function explainCancelled(delivery: ExplainedDelivery, deleted: Deleted | undefined): Verdict {
  const { cause, closed_at } = delivery;
  const act = lastOf(delivery, 'cancel');
  if (act) {
    const { at: since, by } = act;
    if (!isId('erasure', by))
      return { code: 'cancelled', summary: `Cancelled by ${by} at ${since}.`, since, by };
    const summary = `Cancelled by the erasure ${by} at ${since}: ${ERASED_REASON}`;
    return { code: 'subject_erased', summary, since, by };
  }
  if (cause?.code === 'endpoint_deleted') {
    const { at: since = closed_at, by } = deleted ?? {};
    const summary = deleted ? `The endpoint was deleted at ${since} by ${by}.` : DELETED_REASON;
    return { code: 'endpoint_deleted', summary, since, by };
  }
  if (cause?.code === 'erased') return { code: 'subject_erased', summary: ERASED_REASON, since: closed_at };
  return {
    code: 'terminated',
    summary: `The execution was ended in Temporal${closed_at ? ` at ${closed_at}` : ''}.`,
    since: closed_at,
  };
}

function explainParked(delivery: ExplainedDelivery, endpoint: EndpointNow | undefined): Verdict {
  const { reason = '', cause, attempts } = delivery;
  const last = attempts.at(-1);
  const pause = lastOf(delivery, 'pause');
  if (cause?.code === 'paused')
    return {
      code: 'delivery_paused',
      summary: pause ? `The delivery was paused by ${pause.by} at ${pause.at}.` : reason,
      since: pause?.at,
      by: pause?.by,
    };
  if (cause?.code === 'order') return { code: 'waits_in_order', summary: reason };
  if (cause?.code === 'attempt' && cause.led_to === 'address_blocked' && last)
    return { code: 'address_blocked', summary: reason, since: endOf(last) };
  if (!endpoint)
    return {
      code: 'release_pending',
      summary: 'The endpoint was deleted: the delivery is about to be cancelled.',
    };
  const isBusy = cause?.code === 'endpoint' && cause.status === 'busy';
  const isFailing = cause?.code === 'endpoint' && cause.status === 'failing';
  if ((isFailing || isBusy) && endpoint.status === 'active') {
    const { incident } = endpoint;
    if (!incident) return isBusy ? { code: 'waits_its_turn', summary: reason } : releasePending(endpoint);
    const { since, last_failure, last_failure_at, next_probe_at: probe } = incident;
    const how = last_failure ? `: the last attempt ${last_failure}, at ${last_failure_at}` : '';
    return {
      code: 'endpoint_failing',
      summary:
        `The endpoint has been failing since ${since}${how}. ` +
        `The delivery waits until an attempt succeeds${probe ? `; the next one is due at ${probe}` : ''}.`,
      since,
    };
  }
  const code: Partial<Record<EndpointStatus, VerdictCode>> = {
    paused: 'endpoint_paused',
    disabled: endpoint.status_reason === GONE ? 'endpoint_gone' : 'endpoint_disabled',
    pending: 'endpoint_pending',
  };
  const now = code[endpoint.status];
  if (!now) return releasePending(endpoint);
  const { status, status_changed_at: since, status_changed_by: by, status_reason } = endpoint;
  const why = status_reason ? `: ${quoted(status_reason)}` : '.';
  return {
    code: now,
    summary: `The endpoint has been ${status} since ${since}${by ? `, by ${by}` : ''}${why} The delivery waits until it is active.`,
    since,
    by,
  };
}

function releasePending({ status_changed_at }: EndpointNow): Verdict {
  return {
    code: 'release_pending',
    summary:
      'The endpoint takes deliveries again. What waited for it is released oldest first, and the delivery has not had its turn.',
    since: status_changed_at,
  };
}

function explainWait(delivery: ExplainedDelivery, now: number): Verdict {
  const { attempts, next_attempt_at, cause, asked_to_wait, reason = '' } = delivery;
  const last = attempts.at(-1);
  const due = next_attempt_at === undefined ? undefined : Date.parse(next_attempt_at);
  if (next_attempt_at === undefined || due === undefined || due <= now)
    return {
      code: 'in_flight',
      summary:
        `Attempt ${attempts.length + 1} is being made, or about to be` +
        `${due === undefined ? '' : `: it was due ${formatDuration(now - due)} ago, at ${next_attempt_at}`}.` +
        (last ? ` ${told(last)}.` : ''),
      next_attempt_at,
    };
  if (cause?.code === 'deferred') return { code: 'waits_its_turn', summary: reason, next_attempt_at };
  return {
    code: asked_to_wait ? 'retry_after' : 'retrying',
    summary: (reason || `The next attempt is due at ${next_attempt_at}.`) + formOf(last),
    next_attempt_at,
    since: last && endOf(last),
  };
}

function lastOf(
  { interventions }: ExplainedDelivery,
  action: Intervention['action'],
): Intervention | undefined {
  return interventions?.findLast((one) => one.action === action);
}

function told(attempt: Attempt): string {
  return `attempt ${attempt.number} ${describeAttempt(attempt)}`;
}

/** Says in which form an event was sent that was refused: a receiver may not know it. */
function formOf({ format, status_code }: Partial<Attempt> = {}): string {
  return format && status_code !== undefined ? ` It was sent in the form ${format} (payload_format).` : '';
}

function endOf({ at, duration_ms }: Attempt): string {
  return new Date(Date.parse(at) + duration_ms).toISOString();
}
