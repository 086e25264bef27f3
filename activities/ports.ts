import type {
  AcceptedEvent,
  Attempt,
  DeliveryGroup,
  DeliverySettings,
  DeliveryTarget,
  EndpointKey,
  Trigger,
} from '../src/domain/delivery.js';
import type { EndpointStatus } from '../src/domain/endpoint.js';
import type { Outcome } from '../src/domain/outcome.js';

/** An attempt to make. */
export interface AttemptRequest {
  account_id: string;
  event_id: string;
  endpoint_id: string;
  event_kind: string;
  payload: string;
  number: number;
  trigger: Trigger;
  timeout_ms: number;
}

/** First attempts to make side by side. */
export interface GroupAttemptRequest extends DeliveryGroup {
  timeout_ms: number;
}

/** What came of it: an attempt with its outcome, or none because the endpoint takes nothing. */
export type AttemptReport =
  | {
      kind: 'attempted';
      attempt: Attempt;
      outcome: Outcome;
      /** The endpoint asked not to be called before. ISO 8601, UTC. */
      retry_after?: string;
    }
  | { kind: 'not_attempted'; endpoint: Exclude<EndpointStatus, 'active'> | 'deleted'; reason?: string };

/** What an attempt needs of an endpoint. Secrets stay inside the activity. */
export interface EndpointForAttempt {
  target_url: string;
  status: EndpointStatus;
  status_reason?: string;
  /** Newest first. */
  signing_secrets: readonly string[];
}

/** Where endpoints are kept. */
export interface EndpointDirectory {
  /** The endpoint as it is now; `undefined` where there is none. */
  load(accountId: string, endpointId: string): Promise<EndpointForAttempt | undefined>;
  /** Takes an active endpoint out of service. */
  disable(accountId: string, endpointId: string, reason: string): Promise<void>;
}

/** What an endpoint answered, or why there is no answer. */
export type PostResult = Pick<
  Attempt,
  'status_code' | 'error_code' | 'error' | 'response_headers' | 'response_snippet'
> & {
  /** The `Retry-After` header as it came. */
  retry_after?: string;
};

/** Sends one POST, within a limit that covers connecting, TLS and waiting. It reports failures; it does not throw them. */
export interface HttpPoster {
  post(url: string, headers: Record<string, string>, body: string, timeoutMs: number): Promise<PostResult>;
}

/** A part of an event's deliveries to start. */
export interface DeliveryBatch extends AcceptedEvent, DeliverySettings {
  targets: DeliveryTarget[];
}

/** The ledger, as far as activities write to it. */
export interface DeliveryStarter {
  /** Starts deliveries of an event, unless they have been started already. */
  start(event: AcceptedEvent, targets: readonly DeliveryTarget[]): Promise<void>;
  /** Wakes the parked deliveries of an endpoint, oldest first. */
  wakeParked(endpoint: EndpointKey, onProgress: () => void): Promise<void>;
}
