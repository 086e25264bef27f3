import type { HttpAnswer, HttpRequest, HttpTrace } from '../../packages/egress/src/index.js';
import type { Attempt } from '../../src/domain/attempt/attempt.js';
import type { AttemptRequest } from '../../src/domain/delivery/attempt-request.js';
import type { SentForm } from '../../src/domain/sending/sent-form.js';

export type { HttpAnswer, HttpRequest, HttpTrace } from '../../packages/egress/src/index.js';

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
 * @param form of its body, which is kept in place of the body
 */
export type InboxExchange = (
  delivery: Pick<AttemptRequest, 'account_id' | 'endpoint_id' | 'event_id'>,
  request: HttpRequest,
  secrets: readonly string[],
  form: SentForm,
) => Promise<HttpExchange>;
