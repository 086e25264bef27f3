import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { createSecureContext, rootCertificates, type TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import type { AddressGuard } from './address-guard.js';
import { greatestAge, limitAge } from './connection-age.js';
import { deadline } from './deadline.js';
import { currentTrace, type ExchangeTrace } from './exchange-trace.js';
import { firstToOpen, type OpenConnection } from './first-to-open.js';
import { UnresolvedNameError } from './names/name-answer.js';
import type { ResolvedName } from './names/name-lookups.js';
import { bareHost, openTunnel } from './tunnel.js';

/** How connections to endpoints are made. */
export interface ConnectorOptions {
  guard: AddressGuard;
  /** PEM certificates of authorities that are trusted besides the public ones. */
  extraCa: readonly string[];
  /** Shown to endpoints that ask for a client certificate (mutual TLS). */
  clientCertificate?: { cert: string; key: string } | undefined;
  /**
   * An HTTP proxy that connections leave through, by CONNECT. It is given addresses, never names: the guard has checked
   * them here.
   */
  egressProxy?: string | undefined;
  /** The greatest age of a connection, milliseconds; less if the name's addresses are good for less. */
  maxAgeMs?: number | undefined;
}

/** When a connection is given up of whose exchange nothing is known, milliseconds: as long as any attempt may take. */
const CONNECT_TIMEOUT_MS = 30_000;
/**
 * When the next address is tried beside one that has not opened, milliseconds: RFC 8305, section 5, recommends 250 and
 * allows 2,000. A proxy answers when it has connected itself, and may ask somebody else before.
 */
const NEXT_AFTER_MS = { direct: 250, byProxy: 1_000 };

/** As undici has it for connections that it makes itself. */
const SOCKET_OPTIONS = {
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: 60_000,
  highWaterMark: 64 * 1_024,
} as const;

/** An undici connector for guarded addresses only. Its time limit is that of the exchange. */
export function createConnector(options: ConnectorOptions): buildConnector.connector {
  const { guard, extraCa, clientCertificate, egressProxy, maxAgeMs } = options;
  const secure = buildConnector({
    // There is a limit for all of a connection.
    timeout: 0,
    // For resumption.
    maxCachedSessions: 1_000,
    // Made once: to read all the authorities again for each connection takes 20 ms of the processor.
    secureContext: createSecureContext({
      ...(extraCa.length > 0 && { ca: [...rootCertificates, ...extraCa] }),
      ...clientCertificate,
    }),
  });
  const proxy = egressProxy === undefined ? undefined : new URL(egressProxy);

  const open = async (
    target: buildConnector.Options,
    trace: ExchangeTrace | undefined,
    signal: AbortSignal,
  ) => {
    const port = portOf(target);
    const resolved = await lookUp(guard, target.hostname, port, trace, signal);
    const openOne: OpenConnection = proxy
      ? (address, unwanted) => openTunnel(proxy, address, port, unwanted)
      : (address, unwanted) => openDirectly(guard, address.address, port, unwanted);
    const nextAfterMs = NEXT_AFTER_MS[proxy ? 'byProxy' : 'direct'];
    const opening = { nextAfterMs, signal };
    const { socket: plain, address } = await firstToOpen(resolved.addresses, openOne, opening);
    trace?.end('connect');
    const isTls = target.protocol === 'https:';
    const socket = isTls ? await addTls(secure, target, plain, signal) : plain;
    if (isTls) trace?.end('tls');
    limitAge(socket, address, greatestAge(resolved.expiresAt, maxAgeMs));
    return socket;
  };

  return (target, callback) => {
    const trace = currentTrace();
    const limit = new AbortController();
    // The caller of the exchange ends it and reports why; this timer is just behind.
    const limitMs = trace && !trace.isOver ? Math.ceil(trace.timeLeft) + 1 : CONNECT_TIMEOUT_MS;
    const callOff = deadline(limitMs, () => limit.abort(new ConnectTimeoutError()));
    open(target, trace, limit.signal)
      .finally(callOff)
      .then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      );
  };
}

async function lookUp(
  guard: AddressGuard,
  hostname: string,
  port: number,
  trace: ExchangeTrace | undefined,
  signal: AbortSignal,
): Promise<ResolvedName> {
  const looking = inTime(guard.resolve(hostname, port, trace?.account), signal);
  if (isIP(bareHost(hostname)) || !trace) return looking;
  trace.isResolving = true;
  try {
    const resolved = await looking;
    trace.end('dns');
    return resolved;
  } finally {
    trace.isResolving = false;
  }
}

/**
 * A look-up goes on for others when one exchange has no more time for it.
 *
 * @throws UnresolvedNameError when the time is over, which this timer may see before the caller's does
 */
function inTime<T>(looking: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new UnresolvedNameError('silent'));
    signal.addEventListener('abort', giveUp);
    looking.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}

/** Opens a connection to an address, and checks where it leads in fact. @throws BlockedAddressError */
function openDirectly(
  guard: AddressGuard,
  address: string,
  port: number,
  unwanted: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp({ ...SOCKET_OPTIONS, host: address, port });
    const giveUp = () => socket.destroy();
    unwanted.addEventListener('abort', giveUp);
    // It stays: an error may come before the taker of the connection listens.
    socket.on('error', reject);
    socket.once('connect', () => {
      unwanted.removeEventListener('abort', giveUp);
      try {
        guard.check(socket.remoteAddress, port);
        resolve(socket);
      } catch (refusal) {
        socket.destroy();
        reject(refusal);
      }
    });
  });
}

function addTls(
  secure: buildConnector.connector,
  target: buildConnector.Options,
  httpSocket: Socket,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    // A host name in SNI has no dot at its end (RFC 6066, section 3).
    const servername = target.hostname.replace(/\.$/, '');
    const named = isIP(bareHost(servername)) ? target : { ...target, servername };
    // undici's types do not say that a connector returns the socket at once.
    const begin = secure as (...parameters: Parameters<buildConnector.connector>) => TLSSocket;
    const giveUp = () => socket.destroy(signal.reason);
    const socket = begin({ ...named, httpSocket }, (...[error, secured]) => {
      signal.removeEventListener('abort', giveUp);
      if (error) return reject(error);
      // Node.js tells of an alert that comes after the handshake, such as that a certificate is required (TLS 1.3), and
      // leaves the connection open; its end would be told as the cause.
      secured.on('error', (cause) => secured.destroy(cause));
      resolve(secured);
    });
    signal.addEventListener('abort', giveUp);
  });
}

function portOf({ port, protocol }: buildConnector.Options): number {
  return Number(port || (protocol === 'https:' ? 443 : 80));
}

/** There was no more time to connect. */
class ConnectTimeoutError extends Error {
  readonly code = 'ETIMEDOUT';
}
