import { createServer, IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { answerParserErrors } from '../../api/http/problems/parser-errors.js';
import type { Settings } from '../../config/schema.js';
import { UNITS } from '../../domain/basics/duration.js';
import { type ConnectionLimits, Connections } from '../process/connections.js';

/**
 * Beyond the time that an idle connection is kept: a balancer opens connections before it has requests for them, and
 * Node.js counts the time for the first headers from then on, milliseconds.
 */
const HEADERS_MARGIN_MS = 5_000;
/**
 * For a whole request, headers and body, as Node.js has it by itself; it cannot be shorter than the time for the
 * headers. Milliseconds.
 */
const REQUEST_TIMEOUT_MS = 5 * UNITS.m;

/** A server that has its port and answers once it is told how. */
export type HttpServer = Awaited<ReturnType<typeof listen>>;

/**
 * A request that asks for another protocol only if that is WebSocket. Node.js would give each that offers one to the
 * handler, and none would be answered: clients such as Java's offer HTTP/2 with ordinary requests.
 */
class OwnRequest extends IncomingMessage {
  private offersOther = false;

  set upgrade(offersOther: boolean) {
    this.offersOther = offersOther;
  }

  get upgrade(): boolean {
    const { method, headers } = this;
    return this.offersOther && (method === 'CONNECT' || headers.upgrade?.toLowerCase() === 'websocket');
  }
}

/**
 * How long callers may be idle, and may take for a request: by options of Node.js.
 *
 * @param keepAliveMs for an idle connection
 */
export function timeLimits(keepAliveMs: number) {
  const headersTimeout = keepAliveMs + HEADERS_MARGIN_MS;
  return {
    keepAliveTimeout: keepAliveMs,
    headersTimeout,
    requestTimeout: Math.max(REQUEST_TIMEOUT_MS, headersTimeout),
  };
}

/** Listens on the host and port of the settings. @throws Error if that cannot be */
export async function listen({
  HOOKLINE_HOST,
  HOOKLINE_PORT,
  HOOKLINE_KEEP_ALIVE,
  HOOKLINE_PUBLIC_URL,
}: Pick<Settings, 'HOOKLINE_HOST' | 'HOOKLINE_PORT' | 'HOOKLINE_KEEP_ALIVE'> & Partial<Settings>) {
  const server = createServer({
    IncomingMessage: OwnRequest,
    // The API says what is missing.
    requireHostHeader: false,
    ...timeLimits(HOOKLINE_KEEP_ALIVE),
  });
  let url = '';
  answerParserErrors(server, () => HOOKLINE_PUBLIC_URL ?? url);
  const connections = new Connections(server);
  const early: Parameters<RequestListener>[] = [];
  const keep = (...exchange: Parameters<RequestListener>) => void early.push(exchange);
  server.on('request', keep);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const problem = `Port ${HOOKLINE_PORT} (the API) cannot be listened on: ${cause.message}.`;
      reject(new Error(`${problem} Choose another one with HOOKLINE_PORT.`, { cause }));
    });
    server.listen(HOOKLINE_PORT, HOOKLINE_HOST, resolve);
  });
  const { port } = server.address() as AddressInfo;
  url = urlAt(HOOKLINE_HOST, port);
  return {
    /** Where it is, without a trailing slash. */
    url,
    port,
    /** Answers requests, those that came before included. */
    answer(listener: RequestListener): void {
      server.off('request', keep);
      server.on('request', listener);
      for (const exchange of early.splice(0)) listener(...exchange);
    },
    /** Gives connections that ask for WebSocket to a handler. */
    upgrade: (handler: (request: IncomingMessage, socket: Duplex, head: Buffer) => void) =>
      void server.on('upgrade', (request, socket, head) => {
        connections.leave(socket);
        handler(request, socket, head);
      }),
    /** Still takes connections, each for one response. */
    retire: () => connections.retire(),
    /**
     * Takes no further connections, and resolves when there is none any more: idle ones are closed at once, others with
     * their response or at their limit.
     */
    close: (limits: ConnectionLimits): Promise<void> => connections.end(limits),
  };
}

/** An IPv6 address stands in brackets in a URL (RFC 3986, section 3.2.2). */
export const urlAt = (host: string, port: number) =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
