import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type CertificateAuthority, issueServerCertificate } from '../../src/demo/certificates.js';

/** A receiver that notes when what arrives, and answers at once. */
export interface BenchReceiver {
  /** A URL of it; any path will do. */
  url: string;
  /** When a `webhook-id` arrived, the first time at this path: milliseconds as by `performance.now()`. */
  arrivals: Map<string, number>;
  /** Those that were answered 2xx. */
  accepted: Set<string>;
  /** Requests so far, repeats included. */
  count: number;
  close(): Promise<void>;
}

/** @param authority for HTTPS; plain HTTP if it is absent */
export async function startReceiver(
  authority?: CertificateAuthority,
  delayMs: number | (() => number) = 0,
  status = () => 200,
): Promise<BenchReceiver> {
  const arrivals = new Map<string, number>();
  const accepted = new Set<string>();
  const receiver = { arrivals, accepted, count: 0 };
  const listener: RequestListener = (request, response) => {
    const arrived = performance.now();
    request.resume();
    request.once('end', () => {
      receiver.count += 1;
      const key = `${request.headers['webhook-id']} ${request.url}`;
      if (!arrivals.has(key)) arrivals.set(key, arrived);
      const code = status();
      const answer = () => {
        if (code < 300) accepted.add(key);
        response.writeHead(code).end();
      };
      const wait = typeof delayMs === 'number' ? delayMs : delayMs();
      if (wait === 0) answer();
      else setTimeout(answer, wait);
    });
  };
  const server = authority
    ? createHttpsServer(
        await issueServerCertificate(authority, { dns: ['localhost'], ips: ['127.0.0.1'] }),
        listener,
      )
    : createHttpServer(listener);
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(receiver, {
    url: `${authority ? 'https' : 'http'}://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
