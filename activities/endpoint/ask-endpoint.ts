import { isSuccess } from '../../src/domain/attempt/outcome.js';
import { newId } from '../../src/domain/basics/ids.js';
import { liveKeys, signedHeaders } from '../../src/domain/delivery/signature.js';
import type { Endpoint, VerificationSubject } from '../../src/domain/endpoint/endpoint.js';
import type { DeliveryOptions } from '../../src/domain/sending/delivery-options.js';
import { unmaskOptions } from '../../src/domain/sending/delivery-options.js';
import { sharedNow } from '../../src/domain/time/shared-time.js';
import type { createAuthorizedExchange } from '../delivery/authorization/authorized-exchange.js';
import type { HttpAnswer, HttpRequest } from '../http/exchange.js';
import type { RequestSecrets } from './endpoint-directory.js';

/** Fields of an endpoint that verification needs. */
export interface EndpointForVerification
  extends VerificationSubject,
    RequestSecrets,
    Pick<
      Endpoint,
      | 'id'
      | 'account_id'
      | 'target_url'
      | 'verification_method'
      | 'rate_limit'
      | 'legacy_header_prefix'
      | keyof DeliveryOptions
    > {
  /** Token that the subscriber must return. */
  verification_token: string;
  /** Sent to the subscriber as `hub.verify_token`, which tells it who asks; Graph API only. */
  verify_token?: string;
}

/** Kind of the event that a verification by `challenge` posts. */
const VERIFICATION_KIND = 'endpoint.verification';
const PER_MINUTE = 60;
/** Decimals kept of a rate; further digits are rounding errors. */
const RATE_DIGITS = 6;

/** Input of a verification attempt besides the endpoint. */
interface VerificationContext {
  exchangeAs: ReturnType<typeof createAuthorizedExchange>;
  userAgent: string;
  /** Where the subscriber may confirm instead of answering; absent if this installation has no public address. */
  confirmationUrl: string | undefined;
  /** Host name of this installation, which asks. */
  origin: string;
  timeoutMs: number;
}

/** Whether an endpoint wants events, or why that is not known. */
type VerificationResult = { wanted: true; allowed_rate?: number } | { wanted: false; reason: string };

/** A question to an endpoint, and what answers of success mean. The headers of all requests are added. */
interface Question extends Pick<HttpRequest, 'method' | 'body'> {
  /** Absent: the endpoint's own. */
  url?: string;
  headers?: Record<string, string>;
  resultOf(answer: HttpAnswer): VerificationResult;
}

const QUESTIONS = { challenge, cloudevents: requestPermission, graph: challengeAsGraphApi } as const;

/** Asks an endpoint whether it wants events, by its verification method. */
export async function askEndpoint(
  endpoint: EndpointForVerification,
  context: VerificationContext,
): Promise<VerificationResult> {
  const { resultOf, headers, ...request } = QUESTIONS[endpoint.verification_method](endpoint, context);
  const { authentication, client_certificate } = unmaskOptions(endpoint, endpoint.options);
  const answer = await context.exchangeAs(authentication, {
    url: endpoint.target_url,
    ...request,
    headers: {
      ...endpoint.headers,
      'user-agent': context.userAgent,
      ...headers,
    },
    timeoutMs: context.timeoutMs,
    account: endpoint.account_id,
    clientCertificate: client_certificate,
  });
  if ('error_code' in answer) return no(`There was no response: ${answer.error}.`);
  if (!isSuccess(answer.statusCode)) return no(`It responded with ${answer.statusCode}.`);
  return resultOf(answer);
}

/**
 * A signed POST with a token. The subscriber answers with the token as text, or as `challenge_response` in JSON. The
 * name differs from the one in the request, so that a server that echoes requests is not verified.
 */
function challenge(endpoint: EndpointForVerification, { confirmationUrl }: VerificationContext): Question {
  const { id: endpoint_id, verification_token: token, signing_keys, legacy_header_prefix } = endpoint;
  const { legacy_signature } = unmaskOptions(endpoint, endpoint.options);
  const now = sharedNow();
  const id = newId('event', now);
  const secrets = liveKeys(signing_keys, now).map(({ secret }) => secret);
  const body = JSON.stringify({
    kind: VERIFICATION_KIND,
    endpoint_id,
    challenge: token,
    ...(confirmationUrl && { confirmation_url: confirmationUrl }),
  });
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...signedHeaders(
        secrets,
        { id, timestamp: Math.floor(now / 1_000), kind: VERIFICATION_KIND, body },
        { legacy_header_prefix, legacy_signature },
      ),
      'webhook-event-kind': VERIFICATION_KIND,
      'webhook-attempt': '1',
    },
    body,
    resultOf: (answer) =>
      answer.body.trim() === token || challengeResponse(answer.body) === token
        ? { wanted: true }
        : no('It responded, but not with the token: as text, or as "challenge_response" in JSON.'),
  };
}

/**
 * CloudEvents, "HTTP 1.1 Web Hooks for Event Delivery", section 4: `OPTIONS` with `WebHook-Request-Origin`; permission
 * is `WebHook-Allowed-Origin` with that origin or `*`, and a rate in requests per minute, or later a call of the
 * callback.
 */
function requestPermission(
  { rate_limit }: EndpointForVerification,
  { origin, confirmationUrl }: VerificationContext,
): Question {
  return {
    method: 'OPTIONS',
    headers: {
      'webhook-request-origin': origin,
      ...(confirmationUrl && { 'webhook-request-callback': confirmationUrl }),
      ...(rate_limit && { 'webhook-request-rate': requestedRate(rate_limit) }),
    },
    resultOf({ headers }) {
      const allowed = String(headers['webhook-allowed-origin'] ?? '').trim();
      if (allowed !== '*' && allowed.toLowerCase() !== origin.toLowerCase())
        return no(`It did not name ${origin} in WebHook-Allowed-Origin.`);
      const rate = parseAllowedRate(String(headers['webhook-allowed-rate'] ?? '*'));
      if (rate === undefined) return no('Its WebHook-Allowed-Rate is neither a number above 0 nor *.');
      return { wanted: true, ...(Number.isFinite(rate) && { allowed_rate: rate }) };
    },
  };
}

/**
 * Graph API, "Getting started with webhooks", verification requests: `GET` with `hub.challenge`, which must come back
 * as it is.
 */
function challengeAsGraphApi({
  target_url,
  verification_token: token,
  verify_token,
}: EndpointForVerification): Question {
  return {
    method: 'GET',
    url: withQuery(target_url, {
      'hub.mode': 'subscribe',
      'hub.challenge': token,
      ...(verify_token && { 'hub.verify_token': verify_token }),
    }),
    resultOf: ({ body }) =>
      body.trim() === token ? { wanted: true } : no('It responded, but not with the value of hub.challenge.'),
  };
}

/**
 * A URL with parameters behind those that it has, which stay as they are written: `URL.searchParams` would write all of
 * them anew. One that has the name of an added one is replaced.
 */
export function withQuery(text: string, added: Readonly<Record<string, string>>): string {
  const url = new URL(text);
  const isReplaced = (pair: string) =>
    [...new URLSearchParams(pair).keys()].some((name) => Object.hasOwn(added, name));
  const pairs = url.search === '' ? [] : url.search.slice(1).split('&');
  const kept = pairs.filter((pair) => !isReplaced(pair));
  url.search = [...kept, new URLSearchParams(added)].join('&');
  return url.href;
}

/**
 * Requests per minute as CloudEvents' `WebHook-Request-Rate` takes them, an integer above 0 (section 4.1.3), and never
 * less than what is going to be sent.
 *
 * @param perSecond above 0
 */
export function requestedRate(perSecond: number): string {
  const perMinute = Number((perSecond * PER_MINUTE).toFixed(RATE_DIGITS));
  return String(Math.max(1, Math.ceil(perMinute)));
}

/** A rate in a CloudEvents header: requests per minute, or `Infinity` for `*`; `undefined` if it is neither. */
function parseAllowedRate(text: string): number | undefined {
  if (text.trim() === '*') return Number.POSITIVE_INFINITY;
  return /^[1-9]\d{0,8}$/.test(text.trim()) ? Number(text.trim()) : undefined;
}

function challengeResponse(body: string): unknown {
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null && 'challenge_response' in parsed
      ? parsed.challenge_response
      : undefined;
  } catch {
    return undefined;
  }
}

function no(reason: string): VerificationResult {
  return { wanted: false, reason };
}
