import type { Attempt } from '../../api/types.js';

/** Advice about an attempt that failed, by its cause; `undefined` if it did not fail, or there is none. */
export function adviceFor({
  status_code,
  error_code,
}: Pick<Attempt, 'status_code' | 'error_code'>): string | undefined {
  if (status_code !== undefined) return forStatus(status_code);
  return error_code === undefined ? undefined : FOR_ERRORS[error_code];
}

function forStatus(status: number): string | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status >= 300 && status < 400)
    return 'Redirects are not followed. Register the address that the redirect leads to.';
  const known = FOR_STATUSES[status];
  if (known) return known;
  return status >= 500
    ? 'The application failed while handling the event. Its log from that moment says why; retry once it is fixed.'
    : 'The application rejected the request. The response says what is wrong; fix that, then retry.';
}

const FOR_STATUSES: Record<number, string> = {
  400: 'The application rejected the request. If it verifies the signature: does it use the secret of this endpoint, and the raw body, before parsing?',
  401: 'The application asks for credentials. Send them as headers of the endpoint, or have it verify the signature instead; if it already does, compare the secret.',
  403: 'The application, or a firewall in front of it, refuses the request. Allow the addresses that deliveries come from, and exempt this path from CSRF checks.',
  404: 'There is nothing at this path. Compare the URL of the endpoint with the route of the application.',
  405: 'The route does not accept POST. Compare the URL of the endpoint with the route of the application.',
  408: 'The application took too long to read the request. Respond first, then do the work.',
  410: 'The application said that the endpoint is gone, so it was disabled. Resume it if that was a mistake.',
  413: 'The application does not accept a body of this size. Raise its limit, or that of the proxy in front of it.',
  415: 'The route does not accept application/json. Let it read the raw body.',
  429: 'The application wants fewer requests. Set a rate limit for the endpoint; the next attempt waits for its Retry-After.',
  502: 'A proxy responded, but the application behind it did not. Is it running?',
  503: 'The application cannot take requests right now. The next attempt waits for its Retry-After, or for the schedule.',
  504: 'A proxy responded, but the application behind it took too long. Respond first, then do the work.',
};

const FOR_ERRORS: Record<string, string> = {
  timeout:
    'No response came in time. Respond with 2xx as soon as the event is stored, and do the work afterwards.',
  connection_refused:
    'Nothing listens at this address and port. Is the application running, and is the port right?',
  connection_reset:
    'The application, or something in front of it, closed the connection. Its log from that moment may say why.',
  connection_failed:
    'No connection could be made. Is the host reachable from the internet, and does the firewall let deliveries in?',
  dns_failure:
    'The name of the host has no address. Compare it with the URL of the endpoint, and look at the DNS.',
  tls_certificate_expired: 'The certificate has expired. Renew it; then retry.',
  tls_certificate_untrusted:
    'The certificate is not from a trusted authority, or the chain is incomplete: send the intermediate certificates as well.',
  tls_name_mismatch: 'The certificate is for another name. Compare it with the host of the URL.',
  tls_handshake_failed:
    'The TLS handshake failed. The server may only speak an old version, or no TLS at this port.',
  malformed_response: 'The server does not speak valid HTTP. Is it the right port?',
  response_headers_too_large:
    'The headers of the response are too large: 64 KiB are read. Cookies and traces are often the cause.',
  blocked_address: 'The name resolves to an address that deliveries may not go to, such as a private one.',
  proxy_failed: 'The proxy that deliveries go through did not let this one out. Ask the operator.',
  invalid_url: 'The URL of the endpoint cannot be used. Change it.',
  authorization_failed:
    'No access token could be fetched. The error says why: compare client id, secret, scope and token URL with the authorization server.',
  listener_disconnected: 'Nobody is connected to the listener. Start hookline listen again.',
};
