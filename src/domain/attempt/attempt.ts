import type { PayloadFormat } from '../sending/payload-format.js';

/** Trigger of an attempt. `probe`: the endpoint's incident, to see whether the endpoint answers again. */
export const TRIGGERS = ['schedule', 'retry_after', 'manual', 'released', 'probe'] as const;

export type Trigger = (typeof TRIGGERS)[number];

/**
 * Where the time of an attempt went, milliseconds. A step that did not take place, or did not end, is absent: a
 * connection that was kept from an earlier attempt takes none of the first three. The rest of the attempt's duration
 * was spent on the response's body.
 */
export interface AttemptTimings {
  /** Resolving the host name. */
  dns?: number;
  /** Connecting, through the egress proxy if there is one. */
  connect?: number;
  /** The TLS handshake. */
  tls?: number;
  /** From the request until the response's headers. */
  first_byte?: number;
}

/** One HTTP request to an endpoint, and its result. Exactly one of `status_code` and `error_code` is there. */
export interface Attempt {
  /** 1 for the first. */
  number: number;
  /** ISO 8601, UTC: when it began. */
  at: string;
  duration_ms: number;
  /**
   * Where it was sent: the endpoint's URL at that time, with the endpoint's secrets taken out. Absent where only the
   * record is left of the attempt.
   */
  url?: string;
  /** Version of the endpoint at that time. */
  endpoint_version?: number;
  /**
   * The versions of the endpoint that made the secrets which signed it, newest first: several while a rotation
   * overlaps.
   */
  secret_versions?: number[];
  /** The address connected to; absent if there was no connection. */
  address?: string;
  /** Size of the body that was sent. */
  request_bytes?: number;
  /** The form in which the event was sent; absent: its payload as it was posted. */
  format?: Exclude<PayloadFormat, 'event'>;
  /** SHA-256 of the body that was sent, hexadecimal, if it is not the payload. */
  request_sha256?: string;
  /** How many bytes of the response's body were read: all of it, or as many as are read at most. */
  response_bytes?: number;
  /** SHA-256 of these bytes as they came, hexadecimal; absent if there are none. */
  response_sha256?: string;
  /** Present if the body goes on behind them: `true`. It is longer than what is read, or did not end in time. */
  response_cut?: true;
  /**
   * The whole length of a body that goes on, as the endpoint declared it (`Content-Length`); absent if it did not.
   * Bytes.
   */
  response_length?: number;
  timings_ms?: AttemptTimings;
  status_code?: number;
  error_code?: AttemptErrorCode;
  /** Description of the failure, human-readable. */
  error?: string;
  /** A few headers of the response that help to find it again in the subscriber's logs. */
  response_headers?: Record<string, string>;
  /** The beginning of the response's body. */
  response_snippet?: string;
  /**
   * The whole attempt as JSON, sealed with the payload's key: where it went and what came back stand in no history in
   * clear. Only where its row could not be kept at once.
   */
  sealed?: string;
  trigger: Trigger;
  /**
   * Number of earlier tries of this attempt whose end is unknown: the process that made them died, or stood still for
   * too long. Their requests may have arrived.
   */
  lost_tries?: number;
  /** Not all of it stands here: an earlier run of its execution has it whole. */
  shortened?: true;
}

/** Why an attempt got no complete response. Stable: part of the HTTP interface. */
export const ATTEMPT_ERROR_CODES = [
  'timeout',
  'connection_refused',
  'connection_reset',
  'connection_failed',
  'dns_failure',
  'tls_certificate_expired',
  'tls_certificate_untrusted',
  'tls_name_mismatch',
  'tls_handshake_failed',
  'malformed_response',
  'response_headers_too_large',
  'blocked_address',
  'proxy_failed',
  'invalid_url',
  'authorization_failed',
  'listener_disconnected',
] as const;

export type AttemptErrorCode = (typeof ATTEMPT_ERROR_CODES)[number];

/**
 * `webhook-timestamp` of an attempt that began at that time: seconds since the epoch.
 *
 * @param at milliseconds since the epoch
 */
export function webhookTimestamp(at: number): number {
  return Math.floor(at / 1_000);
}
