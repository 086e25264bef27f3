import type { Attempt, AttemptTimings } from '../../src/domain/attempt/attempt.js';
import type { AttemptRequest } from '../../src/domain/delivery/attempt-request.js';
import type { ClientCertificate } from '../../src/domain/sending/delivery-options.js';

/** A request to an endpoint. */
export interface HttpRequest {
  method: 'GET' | 'POST' | 'OPTIONS';
  url: string;
  headers: Record<string, string>;
  body?: string;
  /** For connecting, TLS, waiting and reading, milliseconds. It begins with the request. */
  timeoutMs: number;
  /** The account that it is made for; absent: the installation. */
  account?: string;
  /** Shown in place of the installation's, if the server asks for one (mutual TLS). */
  clientCertificate?: ClientCertificate | undefined;
}

/** A response, with as much of its body as was read: 16 KiB at most. */
export interface HttpAnswer {
  statusCode: number;
  headers: Record<string, string | string[] | undefined>;
  /** The part of the body that was read, as text. */
  body: string;
  /** How many bytes were read. */
  bodyBytes: number;
  /** SHA-256 of these bytes, hexadecimal; absent if there are none. */
  bodySha256?: string | undefined;
  /** Whether the body goes on: it is longer than what is read, or did not end in time. */
  isCut: boolean;
}

/** Where an exchange went, and where its time went. */
export interface HttpTrace {
  /** The address connected to; absent if there was no connection. */
  address?: string;
  timings: AttemptTimings;
}

/** A response, or why there is none. */
export type HttpExchange = (HttpAnswer | Required<Pick<Attempt, 'error_code' | 'error'>>) & {
  trace: HttpTrace;
};

/** Sends requests. It reports failures; it does not throw them. */
export interface HttpPoster {
  exchange(request: HttpRequest): Promise<HttpExchange>;
}

/** Sends a request to the program that is connected to a listener. It reports failures; it does not throw them. */
export type ListenerExchange = (endpointId: string, request: HttpRequest) => Promise<HttpExchange>;

/**
 * Has a test inbox receive a request. It reports failures; it does not throw them.
 *
 * @param secrets by which the request was signed
 */
export type InboxExchange = (
  delivery: Pick<AttemptRequest, 'account_id' | 'endpoint_id' | 'event_id'>,
  request: HttpRequest,
  secrets: readonly string[],
) => Promise<HttpExchange>;
