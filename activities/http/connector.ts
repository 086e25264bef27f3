import { request as httpRequest } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { createSecureContext, rootCertificates } from 'node:tls';
import { buildConnector } from 'undici';
import { type AddressGuard, BlockedAddressError } from './address-guard.js';
import { currentTrace, leadsTo } from './exchange-trace.js';

/** How connections to endpoints are made. */
export interface ConnectorOptions {
  guard: AddressGuard;
  /** PEM certificates of authorities that are trusted besides the public ones. */
  extraCa: readonly string[];
  /** Shown to endpoints that ask for a client certificate (mutual TLS). */
  clientCertificate?: { cert: string; key: string } | undefined;
  /** An HTTP proxy that connections leave through, by CONNECT. It is given addresses, never names: the guard has checked them here. */
  egressProxy?: string | undefined;
}

/** How many TLS sessions are kept for resumption. */
const MAX_CACHED_SESSIONS = 1_000;

/** When a connection that has not opened is given up, milliseconds; the attempt has ended before, at its own limit. */
const CONNECT_TIMEOUT_MS = 10_000;
/** For a proxy to open a connection; the attempt's own limit is usually shorter. */
const TUNNEL_TIMEOUT_MS = 30_000;

/** A connector for undici that connects to guarded addresses only. */
export function createConnector(options: ConnectorOptions): buildConnector.connector {
  const { guard, extraCa, clientCertificate, egressProxy } = options;
  const tls = {
    timeout: CONNECT_TIMEOUT_MS,
    maxCachedSessions: MAX_CACHED_SESSIONS,
    // Made once: to read all the authorities again for each connection takes 20 ms of the processor.
    secureContext: createSecureContext({
      ...(extraCa.length > 0 && { ca: [...rootCertificates, ...extraCa] }),
      ...clientCertificate,
    }),
  };
  // A look-up does not know the port, which matters too, so there is one connector for each port. There are few.
  const connectors = new Map<number, buildConnector.connector>();
  const connectorFor = (port: number): buildConnector.connector => {
    const known = connectors.get(port);
    if (known) return known;
    const made = buildConnector({ ...tls, lookup: guard.lookupFor(port) });
    connectors.set(port, made);
    return made;
  };

  const connectDirectly: buildConnector.connector = (target, callback) => {
    const port = portOf(target);
    const literal = target.hostname.replace(/^\[|\]$/g, '');
    try {
      // A literal address is not looked up, so the guard is asked here.
      if (isIP(literal)) guard.check(literal, port);
    } catch (refusal) {
      return callback(refusal as Error, null);
    }
    const trace = currentTrace();
    const isTls = target.protocol === 'https:';
    // undici's types do not say that a connector returns the socket at once.
    const connect = connectorFor(port) as (...parameters: Parameters<buildConnector.connector>) => Socket;
    const socket = connect(target, (...[error, connected]) => {
      if (error) return callback(error, null);
      trace?.end(isTls ? 'tls' : 'connect');
      try {
        guard.check(connected.remoteAddress, port);
      } catch (refusal) {
        connected.destroy();
        return callback(refusal as Error, null);
      }
      callback(null, connected);
    });
    socket.once('lookup', (refusal: Error | null) => {
      if (!refusal) trace?.end('dns');
    });
    if (isTls) socket.once('connect', () => trace?.end('connect'));
  };

  const overTunnel = buildConnector(tls);
  const connectThrough =
    (proxy: URL): buildConnector.connector =>
    (target, callback) => {
      const port = portOf(target);
      const trace = currentTrace();
      const tunnel = async (): Promise<{ socket: Socket; address: string }> => {
        const [first] = await guard.resolve(target.hostname, port);
        if (!first) throw new BlockedAddressError();
        if (!isIP(target.hostname.replace(/^\[|\]$/g, ''))) trace?.end('dns');
        const { address, family } = first;
        const socket = await openTunnel(proxy, `${family === 6 ? `[${address}]` : address}:${port}`);
        trace?.end('connect');
        return { socket, address };
      };
      tunnel().then(
        ({ socket, address }) => {
          leadsTo(socket, address);
          if (target.protocol !== 'https:') return callback(null, socket);
          overTunnel({ ...target, httpSocket: socket }, (...[error, secured]) => {
            if (error) return callback(error, null);
            trace?.end('tls');
            leadsTo(secured, address);
            callback(null, secured);
          });
        },
        (error: Error) => callback(error, null),
      );
    };

  return egressProxy ? connectThrough(new URL(egressProxy)) : connectDirectly;
}

function portOf({ port, protocol }: buildConnector.Options): number {
  return Number(port || (protocol === 'https:' ? 443 : 80));
}

/** Has the proxy open a connection (RFC 9110, section 9.3.6). */
function openTunnel(proxy: URL, authority: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const credentials = decodeURIComponent(`${proxy.username}:${proxy.password}`);
    const request = httpRequest({
      host: proxy.hostname,
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
    request.once('connect', (response, socket) => {
      if (response.statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(new ProxyRefusedError(response.statusCode ?? 0));
    });
    request.once('response', (response) => {
      response.resume();
      reject(new ProxyRefusedError(response.statusCode ?? 0));
    });
    request.setTimeout(TUNNEL_TIMEOUT_MS, () => request.destroy(new ProxyRefusedError(0)));
    request.once('error', (cause) =>
      reject(cause instanceof ProxyRefusedError ? cause : new ProxyRefusedError(0)),
    );
    request.end();
  });
}

/** The egress proxy did not open the connection. */
class ProxyRefusedError extends Error {
  readonly code = 'ERR_HOOKLINE_PROXY';

  constructor(status: number) {
    super(status ? `the egress proxy answered ${status}` : 'the egress proxy cannot be reached');
    this.name = 'ProxyRefusedError';
  }
}
