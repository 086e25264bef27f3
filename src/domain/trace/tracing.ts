import type { Attempt } from '../attempt/attempt.js';
import type { AttemptRequest } from '../delivery/attempt-request.js';
import type { Closing } from '../stats/closing.js';
import type { TraceHeaders } from './trace-context.js';

/** A request to the API that is being traced. */
export interface RequestTrace {
  /** Headers with which work that the request starts continues the trace. */
  headers: TraceHeaders;
  end(facts: { operation: string | undefined; status: number; accountId: string | undefined }): void;
}

/** An attempt that is being traced. */
export interface AttemptTrace {
  /** Sent to the subscriber. */
  headers: TraceHeaders;
  end(result: Pick<Attempt, 'status_code' | 'error_code'>): void;
}

/**
 * Records what happens to requests, deliveries and attempts, for OpenTelemetry. There is none unless it is configured.
 */
export interface Tracing {
  /** @param sent by the caller */
  request(method: string, requestId: string, sent: Partial<TraceHeaders>): RequestTrace;
  /** @returns `undefined` if what the attempt is for is not traced */
  attempt(request: Omit<AttemptRequest, 'payload'>, targetUrl: string): AttemptTrace | undefined;
  /** Deliveries have been closed. */
  closed(closings: readonly Closing[]): void;
}
