import type { ExchangeErrorCode, ExchangeFailure } from './exchange.js';
import { UnresolvedNameError, type UnresolvedReason } from './names/name-answer.js';

/** The most that is read of a response's headers, KiB. */
export const MAX_HEADER_KIB = 64;

/** Codes that Node.js and undici give to errors of a connection, by what they mean to an endpoint's owner. */
const CODES: Record<string, ExchangeErrorCode> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  UND_ERR_SOCKET: 'connection_reset',
  ERR_EGRESS_DNS: 'dns_failure',
  CERT_HAS_EXPIRED: 'tls_certificate_expired',
  CERT_NOT_YET_VALID: 'tls_certificate_expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls_name_mismatch',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls_certificate_untrusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls_certificate_untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'tls_certificate_untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls_certificate_untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls_certificate_untrusted',
  CERT_REVOKED: 'tls_certificate_untrusted',
  CERT_UNTRUSTED: 'tls_certificate_untrusted',
  CERT_REJECTED: 'tls_certificate_untrusted',
  CERT_SIGNATURE_FAILURE: 'tls_certificate_untrusted',
  INVALID_CA: 'tls_certificate_untrusted',
  INVALID_PURPOSE: 'tls_certificate_untrusted',
  CERT_CHAIN_TOO_LONG: 'tls_certificate_untrusted',
  PATH_LENGTH_EXCEEDED: 'tls_certificate_untrusted',
  EPROTO: 'tls_handshake_failed',
  ERR_EGRESS_BLOCKED_ADDRESS: 'blocked_address',
  ERR_EGRESS_PROXY: 'proxy_failed',
  ERR_INVALID_URL: 'invalid_url',
  ERR_EGRESS_ENDLESS: 'malformed_response',
  UND_ERR_HEADERS_OVERFLOW: 'response_headers_too_large',
  // undici's parser does not say that there were two lengths, or a length and chunks, if there was a length.
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'malformed_response',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  ETIMEDOUT: 'timeout',
};

const WORDS: Record<ExchangeErrorCode, string> = {
  timeout: 'no response in time',
  connection_refused: 'the connection was refused',
  connection_reset: 'the connection was closed before a response',
  connection_failed: 'no connection could be made',
  dns_failure: 'the host name could not be resolved',
  tls_certificate_expired: 'the TLS certificate is expired or not yet valid',
  tls_certificate_untrusted: 'the TLS certificate is not signed by a trusted authority',
  tls_name_mismatch: 'the TLS certificate is for another host name',
  tls_handshake_failed: 'the TLS handshake failed',
  malformed_response: 'the response is not valid HTTP',
  response_headers_too_large: `the headers of the response have more than ${MAX_HEADER_KIB} KiB`,
  blocked_address: 'the URL leads to an address that deliveries may not go to',
  proxy_failed: 'the egress proxy of this installation opened no connection',
  invalid_url: 'the URL is not valid',
};

/** Descriptions of DNS failures of a host name. */
const WORDS_OF_DNS: Record<UnresolvedReason, string> = {
  not_found: 'the host name does not exist',
  no_addresses: 'the host name has no address',
  too_many: 'the host name has more addresses than anybody needs',
  silent: 'no DNS server responded for the host name',
  refused: 'the DNS servers refuse to respond for the host name (REFUSED)',
  failed: 'the DNS servers could not resolve the host name (SERVFAIL, for one)',
};

/**
 * Says why a request got no response: a stable code and words for the endpoint's owner. The words never come from the
 * error itself, which may name inner addresses.
 *
 * @param timedOut whether the attempt's own limit ended it
 */
export function describeFailure(error: unknown, timedOut: boolean, timeoutMs: number): ExchangeFailure {
  if (timedOut) return { error_code: 'timeout', error: `no response within ${inWords(timeoutMs)}` };
  if (error instanceof UnresolvedNameError)
    return { error_code: 'dns_failure', error: WORDS_OF_DNS[error.reason] };
  const error_code = classify(error);
  return { error_code, error: WORDS[error_code] };
}

function classify(cause: unknown): ExchangeErrorCode {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  // undici's errors for bytes that are no response: "bad response" for an unsolicited one, and "bad upgrade".
  if (code === 'UND_ERR_SOCKET' && (cause as Error).message.startsWith('bad ')) return 'malformed_response';
  if (CODES[code]) return CODES[code];
  // undici's parser gives a code only if it has one of its own.
  if (code.startsWith('HPE_') || (cause instanceof Error && cause.name === 'HTTPParserError'))
    return 'malformed_response';
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) return 'tls_handshake_failed';
  return cause instanceof Error && cause.cause ? classify(cause.cause) : 'connection_failed';
}

/** A time limit for a person, such as `5s`. */
function inWords(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  return ms % 60_000 === 0 ? `${ms / 60_000}m` : `${Number((ms / 1_000).toFixed(3))}s`;
}
