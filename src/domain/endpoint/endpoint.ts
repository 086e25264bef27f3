import { ANY_KIND, findEventKind, isFamily } from '../event/event-kinds.js';
import type { Filter } from '../event/filter.js';
import type { InputError } from '../http/problem.js';
import type { AddressPolicy } from './address-policy.js';

/**
 * `pending` has not shown yet that it wants events, and gets none; `active` gets them; `paused` (by its owner) and `disabled` (by the
 * service, or a 410) park their deliveries.
 */
export const ENDPOINT_STATUSES = ['pending', 'active', 'paused', 'disabled'] as const;

export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];

/**
 * How an endpoint shows that it wants events: by returning the token of a signed `endpoint.verification` POST, by granting permission
 * to a CloudEvents `OPTIONS` request, or by answering the Graph API's `GET` with `hub.challenge`.
 */
export const VERIFICATION_METHODS = ['challenge', 'cloudevents', 'graph'] as const;

export type VerificationMethod = (typeof VERIFICATION_METHODS)[number];

/** Why an endpoint is disabled that answered 410. */
export const GONE = 'It answered 410 Gone.';

/** What one verification is about. Once either has changed, its result no longer counts. */
export interface VerificationSubject {
  target_url: string;
  /** The revision of the endpoint since which it has been pending with this URL and method. */
  verification_revision: number;
}

/** A registration: where events of some kinds are sent. */
export interface Endpoint {
  id: string;
  account_id: string;
  target_url: string;
  /** Names of event kinds; `order.*` for all that begin so, `*` for all. */
  event_kinds: string[];
  /** Of those kinds, only events whose payload meets it; absent: all of them. */
  filter?: Filter;
  description: string;
  /** The owner's own notes: names and values. */
  metadata: Record<string, string>;
  /** Sent along with each delivery. Names only where it is shown: the values are secrets. */
  headers: Record<string, string>;
  /** Deliveries per second, at most; absent: no limit. */
  rate_limit?: number;
  status: EndpointStatus;
  /** Why it is not active, in words. */
  status_reason?: string;
  /** When the status last changed. ISO 8601, UTC. */
  status_changed_at: string;
  verification_method: VerificationMethod;
  /** When it showed that it wants events. Absent: never so far. ISO 8601, UTC. */
  verified_at?: string;
  /** Its own waits between attempts, such as `5s`; absent where it has the installation's. */
  retry_schedule?: string[];
  created_at: string;
  updated_at: string;
}

/** A size of an endpoint's notes: number of entries, characters of a name and of a value. */
export const MAX_METADATA = { entries: 50, name: 64, value: 512 } as const;
/** The fastest rate limit that can be set, deliveries per second. Faster ones have no effect that could be measured. */
export const MAX_RATE_LIMIT = 1_000;

const MAX_URL_LENGTH = 2_048;

/**
 * Checks a target URL as far as that goes without a look-up. Addresses are checked again when a connection is made, each time.
 *
 * @param allowHttp whether this installation takes plain http (closed networks and benchmarks only)
 * @param addresses where deliveries may go
 * @returns what is wrong with it, and whether that is the missing https
 */
export function checkTargetUrl(
  text: string,
  allowHttp: boolean,
  addresses: Pick<AddressPolicy, 'objection'>,
): { insecure: boolean; detail: string } | undefined {
  const refuse = (detail: string, insecure = false) => ({ insecure, detail });
  if (text.length > MAX_URL_LENGTH) return refuse(`must be at most ${MAX_URL_LENGTH} characters long`);
  if (!URL.canParse(text)) return refuse('must be an absolute URL, such as https://example.com/hooks');
  const url = new URL(text);
  if (url.protocol === 'http:' && !allowHttp) {
    return refuse(
      'must begin with https:// — over plain http anybody on the way could read or change the events',
      true,
    );
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refuse('must begin with https://');
  if (url.username !== '' || url.password !== '') return refuse('must not hold a user name or password');
  if (url.hash !== '') return refuse('must not hold a fragment (#…): it is never sent');
  const objection = addresses.objection(url);
  return objection ? refuse(objection) : undefined;
}

/**
 * Checks a list of event kinds; every unknown name is an error of its own.
 *
 * @param known names of the kinds that the account has, besides the built-in ones
 */
export function checkEventKinds(eventKinds: readonly string[], known: readonly string[]): InputError[] {
  return eventKinds.flatMap((kind, index) =>
    kind === ANY_KIND || isFamily(kind) || findEventKind(kind) || known.includes(kind)
      ? []
      : [{ pointer: `/event_kinds/${index}`, detail: `is no known event kind; use ${ANY_KIND} for all` }],
  );
}
