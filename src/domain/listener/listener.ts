import type { AttemptErrorCode } from '../attempt/attempt.js';
import { UNITS } from '../basics/duration.js';

/**
 * A listener is an endpoint without an address: its deliveries go to a program that holds a stream open, such as
 * `hookline listen`. It is temporary, and deleted when no program has been connected for a while.
 */

/** Without a connection for this long, a listener is deleted, milliseconds. */
export const LISTENER_LIMIT_MS = 10 * UNITS.m;
/**
 * How long a process holds a listener without renewing that it does, milliseconds: for several renewals
 * ({@link Timings}).
 */
export const LEASE_MS = 30_000;
/** How long a ticket may be used, milliseconds. */
export const TICKET_MS = UNITS.m;
/** The WebSocket subprotocol of the stream. */
export const STREAM_PROTOCOL = 'hookline.listen.v1';

/** Why a stream was closed, as WebSocket close codes. After any other code, the program connects again. */
export const CLOSE_CODES = {
  /** The service restarts (RFC 6455 registry: 1012). */
  restart: 1_012,
  /** The program broke the protocol. */
  protocol: 4_400,
  /** Its token has ended: a key was revoked or a session is over. */
  refused: 4_401,
  /** The listener was deleted. */
  deleted: 4_404,
  /** Another program has connected to the same listener. */
  replaced: 4_409,
} as const;

/** Waits between the attempts of a delivery to a listener: a developer is there, and wants to see the next one soon. */
export const LISTENER_SCHEDULE = ['1s', '2s', '5s', '10s', '30s', '1m', '5m'] as const;

/** The most of a response that is passed on, characters. */
export const MAX_ANSWER_BODY = 16 * 1024;
export const MAX_ANSWER_HEADERS = 50;

/** URL of a listener. The host is one that never exists (RFC 2606), so that nothing can be sent there by mistake. */
export function listenerUrl(endpointId: string): string {
  return `https://listener.invalid/${endpointId}`;
}

/** A signed request on its way to a listener. */
export interface ListenerRequest {
  headers: Record<string, string>;
  body: string;
  /** Time for the response, milliseconds. */
  timeout_ms: number;
}

/** Response of the receiver behind the listener, or why there is none. */
export type ListenerResult =
  | { status_code: number; headers: Record<string, string>; body: string }
  | { error_code: AttemptErrorCode; error: string };

/** Errors between a listener and its receiver. */
export const RECEIVER_ERRORS = [
  'timeout',
  'connection_refused',
  'connection_reset',
  'connection_failed',
] as const satisfies AttemptErrorCode[];

export type ReceiverError = (typeof RECEIVER_ERRORS)[number];

/** A message to the program: a request to make. `number` is unique on the stream. */
export interface DeliveryMessage extends ListenerRequest {
  type: 'delivery';
  number: number;
}

/** A message from the program. */
export type AnswerMessage =
  | { type: 'response'; number: number; status_code: number; headers: Record<string, string>; body: string }
  | { type: 'failure'; number: number; error_code: ReceiverError };

/** No program is connected, or its connection ended before it answered. */
export function disconnected(error: string): ListenerResult {
  return { error_code: 'listener_disconnected', error };
}

export const NOT_CONNECTED = disconnected('no listener is connected');
