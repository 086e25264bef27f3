import { redact, redactBeginning } from '../../src/domain/basics/redact.js';
import type { AttemptRequest } from '../../src/domain/delivery/attempt-request.js';
import { type Attempt, webhookTimestamp } from '../../src/domain/delivery/delivery.js';
import { liveSecrets, sign } from '../../src/domain/delivery/signature.js';
import type { AttemptDependencies, EndpointForAttempt, HttpAnswer } from '../ports.js';

/** The most characters of an answer's body that are kept in the delivery's record. */
const SNIPPET_LENGTH = 1_024;
const KEPT_HEADERS = ['content-type', 'date', 'retry-after', 'server', 'x-request-id'] as const;
const KEPT_HEADER_LENGTH = 256;

/** An attempt that was made. */
interface Sent {
  attempt: Attempt;
  /** The `Retry-After` header as it came. */
  retryAfter: string | undefined;
  /** Milliseconds since the epoch. */
  endedAt: number;
}

/**
 * Signs a payload with the endpoint's live secrets and posts it. A failure of the request is an attempt too, so it is returned.
 *
 * @throws if the secrets cannot be decrypted: nothing was sent
 */
export function createSend({ poster, userAgent }: Pick<AttemptDependencies, 'poster' | 'userAgent'>) {
  return async function send(request: AttemptRequest, endpoint: EndpointForAttempt): Promise<Sent> {
    const began = Date.now();
    const timestamp = webhookTimestamp(began);
    const { headers, signing_keys } = endpoint.secrets();
    const secrets = liveSecrets(signing_keys, began);
    const { trace, ...answer } = await poster.exchange({
      method: 'POST',
      url: endpoint.target_url,
      headers: {
        ...headers,
        'content-type': 'application/json',
        'user-agent': userAgent,
        'webhook-id': request.event_id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': sign(secrets, request.event_id, timestamp, request.payload),
        'webhook-event-kind': request.event_kind,
        'webhook-attempt': String(request.number),
      },
      body: request.payload,
      timeoutMs: request.timeout_ms,
    });
    const endedAt = Date.now();
    const secretTexts = [...secrets, ...Object.values(headers)];
    return {
      attempt: {
        number: request.number,
        at: new Date(began).toISOString(),
        duration_ms: endedAt - began,
        url: sentTo(endpoint.target_url, secretTexts),
        endpoint_version: endpoint.version,
        ...(trace.address !== undefined && { address: trace.address }),
        timings_ms: trace.timings,
        request_bytes: Buffer.byteLength(request.payload),
        ...('error_code' in answer ? answer : keptOf(answer, secretTexts)),
        trigger: request.trigger,
      },
      retryAfter: 'error_code' in answer ? undefined : single(answer.headers['retry-after']),
      endedAt,
    };
  };
}

/**
 * The URL that an attempt went to, as it is kept. Without user information, but with path and query: they tell a subscriber in
 * which of their systems to look.
 */
function sentTo(targetUrl: string, secrets: readonly string[]): string {
  const { origin, pathname, search } = new URL(targetUrl);
  return origin + redact(pathname + search, secrets);
}

/**
 * What is kept of an answer. An endpoint may answer with what it was sent, so secrets are removed. That is done before anything is cut,
 * because the first half of a secret would stay.
 */
function keptOf(
  { statusCode, headers, body, bodyBytes, isCut }: HttpAnswer,
  secrets: readonly string[],
): Pick<Attempt, 'status_code' | 'response_bytes' | 'response_headers' | 'response_snippet'> {
  const kept = KEPT_HEADERS.flatMap((name) => {
    const value = single(headers[name]);
    return value === undefined ? [] : [[name, redact(value, secrets).slice(0, KEPT_HEADER_LENGTH)] as const];
  });
  const clean = isCut ? redactBeginning(body, secrets) : redact(body, secrets);
  const snippet = clean.slice(0, SNIPPET_LENGTH);
  return {
    status_code: statusCode,
    response_bytes: bodyBytes,
    ...(kept.length > 0 && { response_headers: Object.fromEntries(kept) }),
    ...(snippet !== '' && { response_snippet: snippet }),
  };
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
