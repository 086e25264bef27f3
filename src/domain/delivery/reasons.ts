import type { EndpointStatus } from '../endpoint/endpoint.js';

/**
 * The texts of a record's `reason` that something is read from. They stand in stored records: a text that is changed here must still be read
 * in its old form.
 */

/** The delivery was given up because its endpoint is gone. */
export const DELETED_REASON = 'The endpoint was deleted.';
/** The delivery was given up because the key of its payload was erased. */
export const ERASED_REASON = 'The subject of the event was erased: its payload cannot be read any more.';
/** Follows the result of an attempt that disabled its endpoint. */
export const DISABLED_NOW = 'The endpoint was disabled.';
/** Follows the result of an attempt at an address where nothing may be sent. */
export const BLOCKED_NOW = 'It waits until the endpoint has another URL, or is retried.';

const ASKED_TO_WAIT = ', as its Retry-After asked';

/** Why a delivery is parked. `gone`: an attempt showed it. */
export type ParkCause =
  | Exclude<EndpointStatus, 'active'>
  | 'failing'
  | 'busy'
  | 'gone'
  | 'address_blocked'
  | 'delivery_paused';

export function endpointReason(status: string, reason: string | undefined): string {
  return `The endpoint is ${status}${reason ? `: ${reason}` : '.'}`;
}

export function pausedReason(by: string): string {
  return `Paused by ${by}.`;
}

/** @param at ISO 8601, UTC @param isAsked the endpoint asked for that time */
export function waitReason(reason: string, at: string, isAsked: boolean): string {
  return `${reason} Next attempt at ${at}${isAsked ? ASKED_TO_WAIT : ''}.`;
}

/** Why a parked delivery is parked; `undefined` if its reason does not say. */
export function parkedFor(reason: string): ParkCause | undefined {
  if (reason.startsWith('Paused by ')) return 'delivery_paused';
  if (reason.endsWith(BLOCKED_NOW)) return 'address_blocked';
  if (reason.endsWith(DISABLED_NOW)) return 'gone';
  const [, status] = /^The endpoint is (pending|paused|disabled|failing|busy)\b/.exec(reason) ?? [];
  return status as ParkCause | undefined;
}

/** How the latest attempt ended: its answer, or that it had none. `undefined` if the reason is about something else. */
export function resultIn(reason: string): { status_code: number } | 'unanswered' | undefined {
  const [, status] = /^Attempt \d+ answered (\d{3})\./.exec(reason) ?? [];
  if (status) return { status_code: Number(status) };
  return /^Attempt \d+ failed: /.test(reason) ? 'unanswered' : undefined;
}

/** Whether the time of the next attempt is one that the endpoint asked for. */
export function wasAskedToWait(reason: string): boolean {
  return reason.endsWith(`${ASKED_TO_WAIT}.`);
}

/** What the reason of a deferred attempt begins with. */
export const DEFERRED = 'Deferred: ';

/** Whether a delivery waits for its turn at the endpoint. */
export function isDeferral(reason: string): boolean {
  return reason.startsWith(DEFERRED);
}
