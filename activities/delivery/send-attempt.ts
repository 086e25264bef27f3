import { hash } from 'node:crypto';
import { type Attempt, webhookTimestamp } from '../../src/domain/attempt/attempt.js';
import { isSuccess } from '../../src/domain/attempt/outcome.js';
import { present } from '../../src/domain/basics/objects.js';
import type { AttemptRequest } from '../../src/domain/delivery/attempt-request.js';
import { liveKeys, signedHeaders } from '../../src/domain/delivery/signature.js';
import { maskHeaders } from '../../src/domain/endpoint/endpoint-headers.js';
import { apiUrl } from '../../src/domain/http/versions.js';
import { type OrderPlace, orderHeader } from '../../src/domain/order/order-rule.js';
import { unmaskOptions } from '../../src/domain/sending/delivery-options.js';
import { type SentForm, sentIn } from '../../src/domain/sending/sent-form.js';
import { redact, redactBeginning } from '../../src/domain/text/redact.js';
import { cutText } from '../../src/domain/text/unicode.js';
import { sharedNow } from '../../src/domain/time/shared-time.js';
import type { Tracing } from '../../src/domain/trace/tracing.js';
import type { EndpointForAttempt } from '../endpoint/endpoint-directory.js';
import type {
  HttpAnswer,
  HttpPoster,
  HttpRequest,
  InboxExchange,
  ListenerExchange,
} from '../http/exchange.js';
import { createAuthorizedExchange } from './authorization/authorized-exchange.js';

/** Dependencies of a request, and values that all requests have. */
export interface SendPorts {
  poster: HttpPoster;
  listenerExchange: ListenerExchange;
  inboxExchange: InboxExchange;
  /** Absent if nothing is traced. */
  tracing?: Pick<Tracing, 'attempt'> | undefined;
  /** Sent as `User-Agent`. */
  userAgent: string;
  /** The address of the API as subscribers see it; absent if they cannot reach it. */
  publicUrl?: string | undefined;
}

/** The most characters of a response's body that are kept in the delivery's record. */
const SNIPPET_LENGTH = 1_024;
const KEPT_HEADERS = ['content-type', 'date', 'retry-after', 'server', 'x-request-id'] as const;
const KEPT_HEADER_LENGTH = 256;
/**
 * The response header with which a subscriber may sign what it received. It is kept with the attempt, and so in what
 * its record commits to.
 */
const RECEIPT_HEADER = 'webhook-receipt';
/** A subscriber's receipt: visible ASCII characters, so that it stays what it was. */
const RECEIPT = /^[\x21-\x7e]{1,1024}$/;

/** An attempt that was made. */
interface Sent {
  attempt: Attempt;
  /** The headers `Retry-After` and `Date` as they came. */
  retry_after?: string | undefined;
  date?: string | undefined;
}

/**
 * Signs a payload with the endpoint's live secrets and posts it, or gives it to the program that is connected to a
 * listener, or to a test inbox. A failure of the request is an attempt too, so it is returned.
 *
 * @throws if the secrets cannot be decrypted: nothing was sent
 */
export function createSend({
  poster,
  listenerExchange,
  inboxExchange,
  tracing,
  userAgent,
  publicUrl,
}: SendPorts) {
  const exchangeAs = createAuthorizedExchange(poster);

  /** @param payload opened */
  return async function send(
    request: AttemptRequest,
    payload: string,
    endpoint: EndpointForAttempt,
    place?: OrderPlace,
  ): Promise<Sent> {
    // Subscribers refuse a timestamp that is minutes old, so this machine's clock will not do.
    const began = sharedNow();
    const beganAt = performance.now();
    const timestamp = webhookTimestamp(began);
    const { headers, signing_keys, options } = endpoint.secrets();
    const keys = liveKeys(signing_keys, began);
    const secrets = keys.map(({ secret }) => secret);
    const secret_versions = keys.flatMap(({ version }) => version ?? []);
    const exchange: HttpPoster['exchange'] = (posted) => {
      const masked = [...Object.keys(headers), ...(endpoint.authentication ? ['authorization'] : [])];
      if (endpoint.inbox) return inboxExchange(request, shown(posted, masked), secrets, form);
      return endpoint.listener ? listenerExchange(request.endpoint_id, posted) : poster.exchange(posted);
    };
    const span = tracing?.attempt(request, endpoint.target_url);
    const { authentication, client_certificate, legacy_signature, payload_format, include_values } =
      unmaskOptions(endpoint, options);
    const { account_id, event_id, event_kind: kind } = request;
    const url = apiUrl(publicUrl, `/events/${event_id}`);
    const form: SentForm = present({ event_kind: kind, url, payload_format, include_values });
    const formatted = sentIn(form, { account_id, event_id, payload });
    const { body } = formatted;
    const { legacy_header_prefix } = endpoint;
    const signed = {
      method: 'POST' as const,
      url: endpoint.target_url,
      headers: {
        ...headers,
        ...formatted.headers,
        'user-agent': userAgent,
        ...signedHeaders(
          secrets,
          { id: event_id, timestamp, kind, body },
          { legacy_header_prefix, legacy_signature },
        ),
        'webhook-event-kind': kind,
        'webhook-attempt': String(request.number),
        ...(place && { 'webhook-order': orderHeader(place) }),
        ...(span && present(span.headers)),
      },
      body,
      timeoutMs: request.timeout_ms,
      account: account_id,
      clientCertificate: client_certificate,
    };
    const { trace, token, ...answer } = await exchangeAs(authentication, signed, exchange);
    const duration_ms = Math.round(performance.now() - beganAt);
    span?.end('error_code' in answer ? answer : { status_code: answer.statusCode });
    const secretTexts = [...secrets, ...Object.values({ ...headers, ...options, ...(token && { token }) })];
    return {
      attempt: {
        number: request.number,
        at: new Date(began).toISOString(),
        duration_ms,
        url: sentTo(endpoint.target_url, secretTexts),
        endpoint_version: endpoint.version,
        ...(secret_versions.length > 0 && { secret_versions }),
        ...(trace.address !== undefined && { address: trace.address }),
        timings_ms: trace.timings,
        request_bytes: Buffer.byteLength(body),
        ...(payload_format !== undefined && payload_format !== 'event' && { format: payload_format }),
        ...(body !== payload && { request_sha256: hash('sha256', body) }),
        ...('error_code' in answer
          ? failureOf(answer, duration_ms >= request.timeout_ms && endpoint.attempt_timeout !== undefined)
          : keptOf(answer, secretTexts)),
        trigger: request.trigger,
      },
      ...(!('error_code' in answer) && {
        retry_after: single(answer.headers['retry-after']),
        date: single(answer.headers['date']),
      }),
    };
  };
}

/** A failure as it is told. @param isOwnLimit whether the attempt had no more time by the endpoint's own setting */
function failureOf(
  { error_code, error }: Required<Pick<Attempt, 'error_code' | 'error'>>,
  isOwnLimit: boolean,
): Pick<Attempt, 'error_code' | 'error'> {
  return { error_code, error: error_code === 'timeout' && isOwnLimit ? `${error} (attempt_timeout)` : error };
}

/** A request as people may see it: values of the endpoint's own headers are secrets. */
function shown(request: HttpRequest, ownHeaders: readonly string[]): HttpRequest {
  return { ...request, headers: { ...request.headers, ...maskHeaders([...ownHeaders]) } };
}

/**
 * The URL that an attempt went to, as it is kept. Without user information, but with path and query: they tell a
 * subscriber in which of their systems to look.
 */
function sentTo(targetUrl: string, secrets: readonly string[]): string {
  const { origin, pathname, search } = new URL(targetUrl);
  return origin + redact(pathname + search, secrets);
}

/**
 * Part of a response that is stored. An endpoint may answer with what it was sent, so secrets are removed. That is done
 * before anything is cut, because the first half of a secret would stay.
 */
function keptOf(
  { statusCode, headers, body, bodyBytes, bodySha256, isCut }: HttpAnswer,
  secrets: readonly string[],
): Partial<Attempt> {
  const kept = KEPT_HEADERS.flatMap((name): [string, string][] => {
    const value = single(headers[name]);
    return value === undefined ? [] : [[name, cutText(redact(value, secrets), KEPT_HEADER_LENGTH)]];
  });
  const receipt = single(headers[RECEIPT_HEADER]);
  if (isSuccess(statusCode) && receipt !== undefined && RECEIPT.test(receipt))
    kept.push([RECEIPT_HEADER, redact(receipt, secrets)]);
  const clean = isCut ? redactBeginning(body, secrets) : redact(body, secrets);
  const snippet = cutText(clean, SNIPPET_LENGTH);
  return {
    status_code: statusCode,
    response_bytes: bodyBytes,
    ...(bodySha256 !== undefined && { response_sha256: bodySha256 }),
    ...(isCut && { response_cut: true, ...declared(headers, bodyBytes) }),
    ...(kept.length > 0 && { response_headers: Object.fromEntries(kept) }),
    ...(snippet !== '' && { response_snippet: snippet }),
  };
}

/** The length that a body which goes on has by its header, if that can be. */
function declared(headers: HttpAnswer['headers'], read: number): Pick<Attempt, 'response_length'> {
  const text = single(headers['content-length']) ?? '';
  const length = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  return length > read ? { response_length: length } : {};
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
