import type { Attempt } from '../../api/types.js';

/** What to do about an attempt that failed, by why it did; `undefined` if it did not, or nothing can be said. */
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
    ? 'The application failed while it took the event. Its log of that moment says why; retry when it is mended.'
    : 'The application refused the request. Look at the answer, mend what it complains about, then retry.';
}

const FOR_STATUSES: Record<number, string> = {
  400: 'The application refused the request. If it checks the signature: is the secret the one of this endpoint, and is the body checked as it came, before it is parsed?',
  401: 'The application asks for credentials. Send them as headers of the endpoint, or check the signature in their place; if it checks that, compare the secret.',
  403: 'The application, or a firewall before it, refuses the request. Allow the addresses that Hookline sends from, and leave this path out of CSRF checks.',
  404: 'Nothing is at this path. Compare the URL of the endpoint with the route of the application.',
  405: 'The route takes no POST. Compare the URL of the endpoint with the route of the application.',
  408: 'The application took too long to read the request. Answer first, then work.',
  410: 'The application said that the endpoint is gone, so it was disabled. Resume it if that was a mistake.',
  413: 'The application takes no body of this size. Raise its limit, or that of the proxy before it.',
  415: 'The route takes no application/json. Let it take the body as it comes.',
  429: 'The application wants fewer requests. Set a rate for the endpoint; it is asked again when its Retry-After says.',
  502: 'A proxy answered, and the application behind it did not. Is it running?',
  503: 'The application says that it cannot take requests for now. It is asked again when its Retry-After says, or by the schedule.',
  504: 'A proxy answered, and the application behind it took too long. Answer first, then work.',
};

const FOR_ERRORS: Record<string, string> = {
  timeout: 'No answer came in time. Answer with 2xx as soon as the event is stored, and work afterwards.',
  connection_refused:
    'Nothing listens at this address and port. Is the application running, and is the port right?',
  connection_reset:
    'The application, or something before it, ended the connection. Its log of that moment may say why.',
  connection_failed:
    'No connection came about. Is the host reachable from the internet, and does a firewall let Hookline in?',
  dns_failure:
    'The name of the host has no address. Compare it with the URL of the endpoint, and look at the DNS.',
  tls_certificate_expired: 'The certificate has expired. Renew it; then retry.',
  tls_certificate_untrusted:
    'The certificate is not of an authority that is trusted, or the chain is not whole: send the intermediate certificates as well.',
  tls_name_mismatch: 'The certificate is for another name. Compare it with the host of the URL.',
  tls_handshake_failed:
    'TLS did not come about. The server may speak an old version alone, or no TLS at this port.',
  malformed_response: 'What answered does not speak HTTP as it should. Is it the right port?',
  blocked_address: 'The name leads to an address that deliveries may not go to, such as a private one.',
  proxy_failed: 'The proxy that deliveries go through did not let this one out. That is for the operator.',
  invalid_url: 'The URL of the endpoint cannot be used. Change it.',
  listener_disconnected: 'Nobody is connected to the listener. Start hookline listen again.',
};
