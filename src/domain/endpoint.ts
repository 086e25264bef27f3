import { ANY_KIND, findEventKind } from './event-kinds.js';
import type { InputError } from './problem.js';

/** `active` gets events; `paused` (by its owner) and `disabled` (by the service, or a 410) park their deliveries. */
export type EndpointStatus = 'active' | 'paused' | 'disabled';

/** Why an endpoint is disabled that answered 410. */
export const GONE = 'It answered 410 Gone.';

/** A registration: where events of some kinds are sent. */
export interface Endpoint {
  id: string;
  account_id: string;
  target_url: string;
  /** Names of event kinds; `*` for all. */
  event_kinds: string[];
  description: string;
  status: EndpointStatus;
  /** Its own waits between attempts, such as `5s`; absent where it has the installation's. */
  retry_schedule?: string[];
  /** Why it is not active, in words. */
  status_reason?: string;
  created_at: string;
  updated_at: string;
}

const MAX_URL_LENGTH = 2_048;

/**
 * Checks a target URL as far as that goes without a look-up. Addresses are checked when a connection is made, each time.
 *
 * @param allowHttp whether this installation takes plain http (closed networks and benchmarks only)
 * @returns what is wrong with it, and whether that is the missing https
 */
export function checkTargetUrl(
  text: string,
  allowHttp: boolean,
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
  return undefined;
}

/** Checks a list of event kinds; every unknown name is an error of its own. */
export function checkEventKinds(eventKinds: readonly string[]): InputError[] {
  return eventKinds.flatMap((kind, index) =>
    kind === ANY_KIND || findEventKind(kind)
      ? []
      : [{ pointer: `/event_kinds/${index}`, detail: `is no known event kind; use ${ANY_KIND} for all` }],
  );
}
