import { Problem } from '../../../domain/http/problem.js';
import type { Middleware } from '../context.js';

/** Refuses requests of HTTP/1.1 without the host that they are for (RFC 9112, section 3.2). @throws Problem 400 */
export const requireHost: Middleware = ({ req: { headers, httpVersion } }, next) => {
  if (headers.host === undefined && httpVersion === '1.1')
    throw new Problem('malformed_request', 'The request has no Host header. Send the host that it is for.');
  return next();
};
