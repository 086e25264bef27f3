/** A request. */
export interface HttpRequest {
  method: 'GET' | 'POST' | 'OPTIONS';
  url: string;
  headers: Record<string, string>;
  body?: string;
  /** For connecting, TLS, waiting and reading, milliseconds. It begins with the request. */
  timeoutMs: number;
  /** The account that it is made for; absent: whoever runs the process. */
  account?: string;
  /** Shown in place of the usual one, if the server asks for one (mutual TLS). */
  clientCertificate?: ClientCertificate | undefined;
}

/** A client certificate with its key, both as PEM. */
export interface ClientCertificate {
  /** The certificates of the authorities between may follow it. */
  certificate: string;
  /** Secret. */
  private_key: string;
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

/** Time that each step of an exchange took, milliseconds; absent if there was no such step. */
export interface ExchangeTimings {
  /** Resolving the host name. */
  dns?: number;
  /** Connecting, through the egress proxy if there is one. */
  connect?: number;
  /** The TLS handshake. */
  tls?: number;
  /** From the request until the response's headers. */
  first_byte?: number;
}

/** Where an exchange went, and where its time went. */
export interface HttpTrace {
  /** The address connected to; absent if there was no connection. */
  address?: string;
  timings: ExchangeTimings;
}

/** Reasons for which there is no response. */
export type ExchangeErrorCode =
  | 'timeout'
  | 'connection_refused'
  | 'connection_reset'
  | 'connection_failed'
  | 'dns_failure'
  | 'tls_certificate_expired'
  | 'tls_certificate_untrusted'
  | 'tls_name_mismatch'
  | 'tls_handshake_failed'
  | 'malformed_response'
  | 'response_headers_too_large'
  | 'blocked_address'
  | 'proxy_failed'
  | 'invalid_url';

/** Reason for which there is no response: a stable code, and words for the owner of the URL. */
export interface ExchangeFailure {
  error_code: ExchangeErrorCode;
  error: string;
}

/** A response, or why there is none. */
export type Exchange = (HttpAnswer | ExchangeFailure) & { trace: HttpTrace };

/** Sends requests. It reports failures; it does not throw them. */
export interface Poster {
  exchange(request: HttpRequest): Promise<Exchange>;
  /** Closes all connections. */
  close(): Promise<void>;
}
