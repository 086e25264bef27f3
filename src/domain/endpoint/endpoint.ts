import type { AddressPolicy } from '../../../packages/egress/src/addresses/index.js';
import type { Filter } from '../../../packages/payload-contract/src/filter/index.js';
import { parseUrl } from '../basics/parse-url.js';
import { ANY_KIND, findEventKind, isFamily } from '../event/event-kinds.js';
import type { OrderRule } from '../event/ordering.js';
import type { InputError } from '../http/problem.js';
import type { DeliveryOptions } from '../sending/delivery-options.js';

/**
 * `pending` has not shown yet that it wants events, and gets none; `active` gets them; `paused` (by its owner) and
 * `disabled` (by the service, or a 410) park their deliveries.
 */
export const ENDPOINT_STATUSES = ['pending', 'active', 'paused', 'disabled'] as const;

export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];

/**
 * How an endpoint shows that it wants events: by returning the token of a signed `endpoint.verification` POST, by
 * granting permission to a CloudEvents `OPTIONS` request, or by answering the Graph API's `GET` with `hub.challenge`.
 */
export const VERIFICATION_METHODS = ['challenge', 'cloudevents', 'graph'] as const;

export type VerificationMethod = (typeof VERIFICATION_METHODS)[number];

/** Why an endpoint is disabled that answered 410. */
export const GONE = 'It responded with 410 Gone.';

/**
 * The result of disabling an endpoint: it is disabled for the cause given, now or since an earlier call; it was not
 * active; or it was changed, so that the cause is about an earlier URL of it.
 */
export type DisableResult = 'disabled' | 'inactive' | 'changed';

/** Subject of one verification. Once the revision has changed, its result no longer counts. A Temporal payload. */
export interface VerificationSubject {
  /** The version of the endpoint since which it has been pending with this URL and method. */
  verification_revision: number;
  /**
   * Names where the request came from that confirmed it, if it was confirmed by one: kept in MongoDB, and recorded with
   * the change.
   */
  from?: string;
}

/** A registration: where events of some kinds are sent. */
export interface Endpoint extends DeliveryOptions, OrderRule {
  id: string;
  account_id: string;
  /** 1 when it is made, and one more with each change of its settings, status or secrets. */
  version: number;
  target_url: string;
  /** Temporary: its deliveries go to a connected program, and its URL only stands for that. */
  listener?: boolean;
  /** A listener that is a test inbox: Hookline itself takes its deliveries. */
  inbox?: boolean;
  /** Names of event kinds; `order.*` for all that begin so, `*` for all. */
  event_kinds: string[];
  /** Only events of those kinds whose payload matches; absent: all of them. */
  filter?: Filter;
  description: string;
  /** The owner's own notes: names and values. */
  metadata: Record<string, string>;
  /** Names of the headers that are sent with each delivery. The values are secrets. */
  header_names: string[];
  /** The headers of the signature are sent under this prefix, too, such as `svix-`; absent: only as `webhook-…`. */
  legacy_header_prefix?: string;
  /** Deliveries per second, at most; absent: no limit. */
  rate_limit?: number;
  status: EndpointStatus;
  /** Why it is not active, human-readable. */
  status_reason?: string;
  /** When the status last changed. ISO 8601, UTC. */
  status_changed_at: string;
  verification_method: VerificationMethod;
  /** When it showed that it wants events. Absent: never so far. ISO 8601, UTC. */
  verified_at?: string;
  /** Its own waits between attempts, such as `5s`; absent if it has the installation's. */
  retry_schedule?: string[];
  created_at: string;
  updated_at: string;
}

/** A size of an endpoint's notes: number of entries, characters of a name and of a value. */
export const MAX_METADATA = { entries: 50, name: 64, value: 512 } as const;
/** The highest rate limit, deliveries per second. Higher ones have no measurable effect. */
export const MAX_RATE_LIMIT = 1_000;

const MAX_URL_LENGTH = 2_048;

/**
 * Checks a target URL without looking anything up. Addresses are checked again each time a connection is made.
 *
 * @param allowHttp whether this installation accepts plain http (closed networks and benchmarks only)
 * @param addresses where deliveries may go
 * @returns what is wrong with it, and whether it is the missing https; `undefined` if nothing is
 */
export function checkTargetUrl(
  text: string,
  allowHttp: boolean,
  addresses: Pick<AddressPolicy, 'objection'>,
): { insecure: boolean; detail: string } | undefined {
  const refuse = (detail: string, insecure = false) => ({ insecure, detail });
  // The URL parser drops line breaks and tabs silently, so it is not known what is meant by them.
  if (/\p{Cc}/u.test(text)) return refuse('must not contain control characters, such as line breaks');
  if (text.length > MAX_URL_LENGTH) return refuse(`must be at most ${MAX_URL_LENGTH} characters long`);
  const url = parseUrl(text);
  if (!url) return refuse('must be an absolute URL, such as https://example.com/hooks');
  if (url.protocol === 'http:' && !allowHttp) {
    return refuse(
      'must begin with https://, as anybody on the way can read and change what is sent over plain http (an operator can allow it with HOOKLINE_ALLOW_HTTP)',
      true,
    );
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refuse('must begin with https://');
  if (url.href.length > MAX_URL_LENGTH)
    return refuse(`must be at most ${MAX_URL_LENGTH} characters long when it is encoded`);
  if (url.username !== '' || url.password !== '')
    return refuse('must not contain a user name or password; use headers instead');
  if (url.hash !== '') return refuse('must not contain a fragment (#…), which is never sent');
  const objection = addresses.objection(url);
  return objection ? refuse(objection) : undefined;
}

/**
 * Checks a list of event kinds. Each unknown name is a separate error.
 *
 * @param known names of the account's own kinds
 */
export function checkEventKinds(eventKinds: readonly string[], known: readonly string[]): InputError[] {
  return eventKinds.flatMap((kind, index) =>
    kind === ANY_KIND || isFamily(kind) || findEventKind(kind) || known.includes(kind)
      ? []
      : [
          {
            pointer: `/event_kinds/${index}`,
            detail: `is not a known event kind; use ${ANY_KIND} for all of them`,
          },
        ],
  );
}
