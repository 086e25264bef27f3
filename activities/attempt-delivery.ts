import { decideOutcome, mayDefer } from '../src/domain/outcome.js';
import { parseRetryAfter } from '../src/domain/retry-after.js';
import { sign } from '../src/domain/signature.js';
import type { AttemptReport, AttemptRequest, EndpointDirectory, HttpPoster } from './ports.js';

/**
 * Makes one attempt: reads the endpoint as it is now, signs the payload with its live secrets, posts it, and decides what the answer
 * means. It throws only where no attempt could be made, such as when the endpoints cannot be read.
 */
export function createAttemptDelivery({
  endpoints,
  poster,
  userAgent,
}: {
  endpoints: EndpointDirectory;
  poster: HttpPoster;
  userAgent: string;
}) {
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

    const began = Date.now();
    const timestamp = Math.floor(began / 1_000);
    const headers = {
      'content-type': 'application/json',
      'user-agent': userAgent,
      'webhook-id': request.event_id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': sign(endpoint.signing_secrets, request.event_id, timestamp, request.payload),
      'webhook-event-kind': request.event_kind,
      'webhook-attempt': String(request.number),
    };
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
      ...answer,
      trigger: request.trigger,
    };
    const outcome = decideOutcome(attempt);
    if (outcome === 'gone') {
      await endpoints.disable(request.account_id, request.endpoint_id, 'It answered 410 Gone.');
    }
    const deferred =
      answer.status_code !== undefined && mayDefer(answer.status_code)
        ? parseRetryAfter(retry_after, ended)
        : undefined;
    return {
      kind: 'attempted',
      attempt,
      outcome,
      ...(deferred !== undefined && { retry_after: new Date(deferred).toISOString() }),
    };
  };
}
