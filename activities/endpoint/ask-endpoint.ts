import { newId } from '../../src/domain/basics/ids.js';
import { liveKeys, signedHeaders } from '../../src/domain/delivery/signature.js';
import type { EndpointForVerification, HttpPoster } from '../ports.js';

/** Kind of the event that a verification by `challenge` posts. */
const VERIFICATION_KIND = 'endpoint.verification';
const PER_MINUTE = 60;
/** So many decimals of a rate are meant, and not made by multiplying. */
const RATE_DIGITS = 6;

/** What a verification attempt needs besides the endpoint. */
export interface VerificationContext {
  poster: HttpPoster;
  userAgent: string;
  /** Where the subscriber may confirm instead of answering; absent if this installation has no public address. */
  confirmationUrl: string | undefined;
  /** Who asks: the host name of this installation. */
  origin: string;
  timeoutMs: number;
}

/** Whether an endpoint wants events, or why that is not known. */
export type VerificationResult = { wanted: true; allowed_rate?: number } | { wanted: false; reason: string };

/** Asks an endpoint whether it wants events, by its verification method. */
export function askEndpoint(
  endpoint: EndpointForVerification,
  context: VerificationContext,
): Promise<VerificationResult> {
  switch (endpoint.verification_method) {
    case 'challenge':
      return challenge(endpoint, context);
    case 'cloudevents':
      return requestPermission(endpoint, context);
    case 'graph':
      return challengeAsGraphApi(endpoint, context);
  }
}

/**
 * A signed POST with a token. The subscriber answers with the token as text, or as `challenge_response` in JSON. The name differs from
 * the one in the request, so that a server that echoes requests is not verified.
 */
async function challenge(
  endpoint: EndpointForVerification,
  context: VerificationContext,
): Promise<VerificationResult> {
  const now = Date.now();
  const id = newId('event', now);
  const timestamp = Math.floor(now / 1_000);
  const secrets = liveKeys(endpoint.signing_keys, now).map(({ secret }) => secret);
  const body = JSON.stringify({
    kind: VERIFICATION_KIND,
    endpoint_id: endpoint.id,
    challenge: endpoint.verification_token,
    ...(context.confirmationUrl && { confirmation_url: context.confirmationUrl }),
  });
  const answer = await context.poster.exchange({
    method: 'POST',
    url: endpoint.target_url,
    headers: {
      ...endpoint.headers,
      'content-type': 'application/json',
      'user-agent': context.userAgent,
      ...signedHeaders(secrets, id, timestamp, body),
      'webhook-event-kind': VERIFICATION_KIND,
      'webhook-attempt': '1',
    },
    body,
    timeoutMs: context.timeoutMs,
  });
  if ('error_code' in answer) return noAnswer(answer.error);
  if (!isSuccess(answer.statusCode)) return no(`It answered ${answer.statusCode}.`);
  const token = endpoint.verification_token;
  if (answer.body.trim() === token || challengeResponse(answer.body) === token) return { wanted: true };
  return no(
    'It answered the challenge, but not with the token: as text, or as "challenge_response" in JSON.',
  );
}

/**
 * CloudEvents, "HTTP 1.1 Web Hooks for Event Delivery", section 4: `OPTIONS` with `WebHook-Request-Origin`; permission is
 * `WebHook-Allowed-Origin` with that origin or `*`, and a rate in requests per minute, or later a call of the callback.
 */
async function requestPermission(
  endpoint: EndpointForVerification,
  context: VerificationContext,
): Promise<VerificationResult> {
  const answer = await context.poster.exchange({
    method: 'OPTIONS',
    url: endpoint.target_url,
    headers: {
      ...endpoint.headers,
      'user-agent': context.userAgent,
      'webhook-request-origin': context.origin,
      ...(context.confirmationUrl && { 'webhook-request-callback': context.confirmationUrl }),
      ...(endpoint.rate_limit && { 'webhook-request-rate': requestedRate(endpoint.rate_limit) }),
    },
    timeoutMs: context.timeoutMs,
  });
  if ('error_code' in answer) return noAnswer(answer.error);
  if (!isSuccess(answer.statusCode)) return no(`It answered ${answer.statusCode}.`);
  const origin = String(answer.headers['webhook-allowed-origin'] ?? '').trim();
  if (origin !== '*' && origin.toLowerCase() !== context.origin.toLowerCase())
    return no(`It did not name ${context.origin} in WebHook-Allowed-Origin.`);
  const rate = parseAllowedRate(String(answer.headers['webhook-allowed-rate'] ?? '*'));
  if (rate === undefined) return no('Its WebHook-Allowed-Rate is neither a number above 0 nor *.');
  return { wanted: true, ...(Number.isFinite(rate) && { allowed_rate: rate }) };
}

/** Graph API, "Getting started with webhooks", verification requests: `GET` with `hub.challenge`, which must come back as it is. */
async function challengeAsGraphApi(
  endpoint: EndpointForVerification,
  context: VerificationContext,
): Promise<VerificationResult> {
  const url = withQuery(endpoint.target_url, {
    'hub.mode': 'subscribe',
    'hub.challenge': endpoint.verification_token,
    ...(endpoint.verify_token && { 'hub.verify_token': endpoint.verify_token }),
  });
  const answer = await context.poster.exchange({
    method: 'GET',
    url,
    headers: { ...endpoint.headers, 'user-agent': context.userAgent },
    timeoutMs: context.timeoutMs,
  });
  if ('error_code' in answer) return noAnswer(answer.error);
  if (!isSuccess(answer.statusCode)) return no(`It answered ${answer.statusCode}.`);
  return answer.body.trim() === endpoint.verification_token
    ? { wanted: true }
    : no('It answered, but not with the value of hub.challenge.');
}

/**
 * A URL with parameters behind those that it has, which stay as they are written: `URL.searchParams` would write all of them anew. One that
 * has the name of an added one is replaced.
 */
export function withQuery(text: string, added: Readonly<Record<string, string>>): string {
  const url = new URL(text);
  const isReplaced = (pair: string) =>
    [...new URLSearchParams(pair).keys()].some((name) => Object.hasOwn(added, name));
  const kept =
    url.search === ''
      ? []
      : url.search
          .slice(1)
          .split('&')
          .filter((pair) => !isReplaced(pair));
  url.search = [...kept, new URLSearchParams(added)].join('&');
  return url.href;
}

/**
 * Requests per minute as CloudEvents' `WebHook-Request-Rate` takes them, an integer above 0 (section 4.1.3), and never less than what is going
 * to be sent.
 *
 * @param perSecond above 0
 */
export function requestedRate(perSecond: number): string {
  const perMinute = Number((perSecond * PER_MINUTE).toFixed(RATE_DIGITS));
  return String(Math.max(1, Math.ceil(perMinute)));
}

/** A rate in a CloudEvents header: requests per minute, or `Infinity` for `*`; `undefined` if it is neither. */
export function parseAllowedRate(text: string): number | undefined {
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

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function noAnswer(error: string): VerificationResult {
  return no(`There was no answer: ${error}.`);
}

function no(reason: string): VerificationResult {
  return { wanted: false, reason };
}
