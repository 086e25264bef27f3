import { parseUrl } from '../basics/parse-url.js';
import type { EndpointKey } from '../endpoint/endpoint-key.js';
import { cutToBytes } from '../text/unicode.js';

/**
 * Summaries: a line about an execution, a timer or an activity, which Temporal UI shows beside it. They hold kinds,
 * hosts, ids and numbers, never a payload or the rest of a URL, which may have a secret in it.
 */

/** Temporal refuses a summary of more bytes than this (`limit.userMetadataSummarySize` of the server). */
export const MAX_SUMMARY_BYTES = 200;

/** A text as a summary: cut between characters if its UTF-8 form is too long. */
export function fitSummary(text: string): string {
  return cutToBytes(text, MAX_SUMMARY_BYTES);
}

/** An endpoint by its id, and its host if that is known. */
export interface NamedEndpoint extends EndpointKey {
  host?: string | undefined;
}

/** Host and port of an endpoint's URL, by which a person knows an endpoint; `undefined` if there is no valid URL. */
export function hostOf(targetUrl: string | undefined): string | undefined {
  return targetUrl === undefined ? undefined : parseUrl(targetUrl)?.host;
}

/** An endpoint, by which workflows are started for it. */
export function namedEndpoint(endpoint: {
  account_id: string;
  id: string;
  target_url: string;
}): NamedEndpoint {
  const { account_id, id, target_url } = endpoint;
  return { account_id, endpoint_id: id, host: hostOf(target_url) };
}

/** Name of an endpoint for people: its description, or its host. */
export function endpointName({
  description,
  target_url,
}: {
  description?: string | null;
  target_url: string;
}): string {
  return description || (hostOf(target_url) ?? target_url);
}

/** `purchase → shop.example.com`. */
export function deliverySummary(
  kind: string,
  { endpoint_id, host = endpoint_id }: Omit<NamedEndpoint, 'account_id'>,
): string {
  return fitSummary(`${kind} → ${host}`);
}

/**
 * `12 × purchase → shop.example.com`, or `… → 3 endpoints`.
 *
 * @param host of an endpoint, if it is known
 */
export function groupSummary(
  kind: string,
  endpointIds: readonly string[],
  host: (endpointId: string) => string | undefined,
): string {
  const [first = '', ...others] = new Set(endpointIds);
  const to = others.length === 0 ? (host(first) ?? first) : `${others.length + 1} endpoints`;
  return fitSummary(`${endpointIds.length} × ${kind} → ${to}`);
}

/** `purchase → 1200 endpoints`. */
export function fanOutSummary(kind: string, endpoints: number): string {
  return fitSummary(`${kind} → ${endpoints === 1 ? '1 endpoint' : `${endpoints} endpoints`}`);
}

/** `incident of shop.example.com`. @param what the execution is about */
export function endpointSummary(what: string, { endpoint_id, host = endpoint_id }: NamedEndpoint): string {
  return fitSummary(`${what} of ${host}`);
}
