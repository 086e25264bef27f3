import { request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { ResolvedAddress } from './names/name-answer.js';

/** The egress proxy did not open the connection. */
class ProxyRefusedError extends Error {
  readonly code = 'ERR_EGRESS_PROXY';

  constructor(status: number) {
    super(status ? `the egress proxy responded with ${status}` : 'the egress proxy cannot be reached');
    this.name = 'ProxyRefusedError';
  }
}

/**
 * Has a proxy open a connection to an address (RFC 9110, section 9.3.6).
 *
 * @param signal ends it
 * @throws ProxyRefusedError
 */
export function openTunnel(
  proxy: URL,
  { address, family }: ResolvedAddress,
  port: number,
  signal: AbortSignal,
): Promise<Socket> {
  const authority = `${family === 6 ? `[${address}]` : address}:${port}`;
  return new Promise((resolve, reject) => {
    const credentials = decodeURIComponent(`${proxy.username}:${proxy.password}`);
    const request = httpRequest({
      host: bareHost(proxy.hostname),
      port: proxy.port || 80,
      method: 'CONNECT',
      path: authority,
      headers: {
        host: authority,
        ...(proxy.username && {
          'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}`,
        }),
      },
      agent: false,
    });
    const end = () => request.destroy();
    const refuse = (status: number) => {
      signal.removeEventListener('abort', end);
      reject(new ProxyRefusedError(status));
    };
    signal.addEventListener('abort', end);
    request.once('connect', ({ statusCode = 0 }, socket, head) => {
      if (statusCode < 200 || statusCode > 299) {
        socket.destroy();
        return refuse(statusCode);
      }
      signal.removeEventListener('abort', end);
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    request.once('response', (response) => {
      response.destroy();
      refuse(response.statusCode ?? 0);
    });
    request.on('error', () => refuse(0));
    request.end();
  });
}

/** A URL's host as functions that connect take it: an IPv6 address without brackets. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
