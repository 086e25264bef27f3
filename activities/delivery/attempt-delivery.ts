import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { redact } from '../../src/domain/basics/redact.js';
import type { AttemptReport } from '../../src/domain/delivery/attempt-report.js';
import type { AttemptRequest } from '../../src/domain/delivery/attempt-request.js';
import type { Attempt } from '../../src/domain/delivery/delivery.js';
import { holdBack } from '../../src/domain/delivery/hold-back.js';
import { decide, describeAttempt, type Outcome } from '../../src/domain/delivery/outcome.js';
import { liveSecrets, sign } from '../../src/domain/delivery/signature.js';
import { GONE } from '../../src/domain/endpoint/endpoint.js';
import type { FailingMark } from '../../src/domain/endpoint/incident.js';
import { isOperational } from '../../src/domain/event/event-kinds.js';
import type {
  DeliveryTurns,
  EndpointDirectory,
  EndpointForAttempt,
  EndpointWatch,
  HttpPoster,
  IncidentLog,
  PostResult,
} from '../ports.js';

/**
 * Makes one attempt: reads the endpoint as it is now, signs the payload with its live secrets, posts it, and decides what the answer
 * means. It throws only where no attempt could be made: when the endpoints cannot be read, or when the endpoint is in trouble and the
 * attempt would have been made in the direct lane.
 */
export function createAttemptDelivery({
  endpoints,
  turns,
  poster,
  health,
  incidents,
  userAgent,
}: {
  endpoints: EndpointDirectory;
  turns: DeliveryTurns;
  poster: HttpPoster;
  health: EndpointWatch;
  incidents: IncidentLog;
  userAgent: string;
}) {
  /**
   * Tells the endpoint's incident, where there is something to tell: nothing is said of a healthy endpoint. What an operational event
   * meets is not told, or endpoints that watch each other would keep each other busy.
   */
  const tellIncident = async (
    { account_id, event_id, endpoint_id, event_kind, number }: AttemptRequest,
    attempt: Attempt,
    outcome: Outcome,
    failing: FailingMark | undefined,
    wasUnhealthy: boolean,
  ): Promise<void> => {
    const endpoint = { account_id, endpoint_id };
    if (outcome === 'gone') {
      // Both under the attempt's name: whichever comes first disables it, and it is told once.
      const cause = `${event_id}:${number}`;
      await incidents.gone(endpoint, cause);
      await endpoints.disable(account_id, endpoint_id, GONE, cause);
      return;
    }
    if (isOperational(event_kind)) return;
    try {
      if (outcome === 'failed' || outcome === 'blocked')
        return await incidents.failed(endpoint, describeAttempt(attempt));
      if (number === 1 && !wasUnhealthy) return;
      const isOpen = await incidents.succeeded(endpoint);
      if (failing && !isOpen) await endpoints.setFailing(account_id, endpoint_id, null);
    } catch {
      // The attempt has been made, and counts; the next one tells.
    }
  };

  return async function attemptDelivery(request: AttemptRequest): Promise<AttemptReport> {
    const endpoint = await endpoints.load(request.account_id, request.endpoint_id);
    if (!endpoint) return { kind: 'not_attempted', endpoint: 'deleted' };
    if (endpoint.status !== 'active') {
      return {
        kind: 'not_attempted',
        endpoint: endpoint.status,
        ...(endpoint.status_reason && { reason: endpoint.status_reason }),
      };
    }

    // Not those that somebody, or the endpoint's incident, chose.
    const mayWait = request.number === 1 && request.trigger === 'schedule';
    const held = mayWait && holdBack(endpoint.failing, Date.now(), Math.random());
    if (held) return held;
    const isDirect = request.isolated !== true;
    if (isDirect && (endpoint.failing || health.isUnhealthy(request.endpoint_id))) throw needsIsolation();
    const deferred = await waitForTurn(request, endpoint, turns);
    if (deferred) return deferred;

    const began = Date.now();
    const timestamp = Math.floor(began / 1_000);
    const secrets = liveSecrets(endpoint.signing_keys, began);
    const headers = {
      ...endpoint.headers,
      'content-type': 'application/json',
      'user-agent': userAgent,
      'webhook-id': request.event_id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': sign(secrets, request.event_id, timestamp, request.payload),
      'webhook-event-kind': request.event_kind,
      'webhook-attempt': String(request.number),
    };
    const over = health.begin(request.endpoint_id, isDirect);
    const { retry_after, ...answer } = await poster.post(
      endpoint.target_url,
      headers,
      request.payload,
      request.timeout_ms,
    );
    const ended = Date.now();

    const attempt = {
      number: request.number,
      at: new Date(began).toISOString(),
      duration_ms: ended - began,
      url_host: new URL(endpoint.target_url).host,
      ...withoutSecrets(answer, [...secrets, ...Object.values(endpoint.headers)]),
      trigger: request.trigger,
    };
    const { outcome, not_before } = decide(
      { ...answer, ...(retry_after !== undefined && { retry_after }) },
      ended,
    );
    const wasUnhealthy = endpoint.failing !== undefined || health.isUnhealthy(request.endpoint_id);
    over(outcome === 'delivered');
    await tellIncident(request, attempt, outcome, endpoint.failing, wasUnhealthy);
    return {
      kind: 'attempted',
      attempt,
      outcome,
      ...(not_before !== undefined && { retry_after: new Date(not_before).toISOString() }),
    };
  };
}

/** Sends a delivery to the isolated lane. Nothing is wrong with it, so it is no error to be counted. */
function needsIsolation(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'isolated',
    message: 'The endpoint is slow or failing: its attempts are made in the isolated lane.',
    nonRetryable: true,
    category: ApplicationFailureCategory.BENIGN,
  });
}
/** A turn so near is waited for here; a later one by the delivery's workflow. Milliseconds. */
const NEAR_MS = 100;
/** A turn that came so long ago is void: many of them used at once, after a pause of all workers, would break the limit. Milliseconds. */
const TURN_VALID_MS = 1_000;

/** Sees to it that the attempt has its turn under the endpoint's rate limit. @returns a report where that comes later */
async function waitForTurn(
  { endpoint_id, turn }: AttemptRequest,
  { rate_limit }: EndpointForAttempt,
  turns: DeliveryTurns,
): Promise<AttemptReport | undefined> {
  if (rate_limit === undefined) return undefined;
  if (turn !== undefined && Date.now() - Date.parse(turn) <= TURN_VALID_MS) return undefined;
  const at = await turns.take(endpoint_id, rate_limit);
  const wait = at - Date.now();
  if (wait <= NEAR_MS) {
    await delay(Math.max(wait, 0));
    return undefined;
  }
  const reason = `Waits its turn: the endpoint gets at most ${Number(rate_limit.toFixed(3))} deliveries per second.`;
  return { kind: 'deferred', turn: new Date(at).toISOString(), reason };
}

/** An endpoint may answer with what it was sent. Of that nothing secret may reach the delivery's record. */
function withoutSecrets<T extends Omit<PostResult, 'retry_after'>>(answer: T, secrets: readonly string[]): T {
  const { response_snippet: snippet, response_headers: headers } = answer;
  return {
    ...answer,
    ...(snippet !== undefined && { response_snippet: redact(snippet, secrets) }),
    ...(headers && {
      response_headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, redact(value, secrets)]),
      ),
    }),
  };
}
