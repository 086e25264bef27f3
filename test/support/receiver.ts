import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import {
  type CertificateAuthority,
  issueServerCertificate,
  loadOrCreateAuthority,
  type ServerCertificate,
} from '../../src/demo/certificates.js';
import { listenLocally, plainHeaders } from '../../src/demo/local-server.js';
import { WAIT_LIMIT_MS } from './until.js';
import { withWarnings } from './warnings.js';

/** One request, recorded when its whole body has arrived. */
export interface ReceivedRequest {
  at: Date;
  method: string;
  /** Path and query. */
  path: string;
  headers: Record<string, string>;
  body: Buffer;
  /** The status sent; absent while waiting, and for good if the connection ended before. */
  answered?: number;
  /** The exchange is over: answered in full, or its connection ended. */
  over: boolean;
}

/** Answers a request whose body has been read, or does not. What it throws fails the test run. */
export type Handler = (
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
) => void | Promise<void>;

/** A running receiver. */
export interface Receiver {
  /** `https://localhost:PORT` or `http://localhost:PORT`, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  readonly received: readonly ReceivedRequest[];
  /** Connections accepted so far, also those on which no request or no handshake ever came. */
  readonly connections: number;
  /** Replaces the handler for requests to come. */
  handle(handler: Handler): void;
  /**
   * Resolves with all requests once `predicate` accepts them.
   *
   * @throws after `timeoutMs` (default {@link WAIT_LIMIT_MS})
   */
  waitFor(
    predicate: (received: readonly ReceivedRequest[]) => boolean,
    timeoutMs?: number,
  ): Promise<ReceivedRequest[]>;
  /** Stops, ending open connections at once. */
  close(): Promise<void>;
}

/**
 * Starts a server on 127.0.0.1 that records what it receives and leaves the answer to `handler`.
 *
 * @param options.handler default: `200` with an empty body
 * @param options.tls `false` for plain HTTP; default: HTTPS with a certificate of {@link testAuthority}
 * @param options.certificate another certificate, to test what must be refused
 */
export async function startReceiver(
  options: { handler?: Handler; tls?: boolean; certificate?: ServerCertificate; port?: number } = {},
): Promise<Receiver> {
  const log = new RequestLog<ReceivedRequest>();
  let handler = options.handler ?? reply(200);
  let connections = 0;

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request).catch(() => undefined);
    if (!body) return; // the caller gave up while sending
    const entry: ReceivedRequest = {
      at: new Date(),
      method: request.method ?? '',
      path: request.url ?? '/',
      headers: plainHeaders(request),
      body,
      over: false,
    };
    response.once('close', () => {
      if (response.writableFinished) entry.answered = response.statusCode;
      entry.over = true;
      log.changed();
    });
    log.add(entry);
    await handler(request, response, body);
  }

  const listener = (request: IncomingMessage, response: ServerResponse) => void receive(request, response);
  const server =
    options.tls === false
      ? createHttpServer(listener)
      : createHttpsServer(options.certificate ?? (await testCertificate()), listener);
  server.on('connection', (_socket: Socket) => {
    connections += 1;
  });
  const { port, close } = await listenLocally(server, options.port);

  return {
    url: `${options.tls === false ? 'http' : 'https'}://localhost:${port}`,
    port,
    received: log.entries,
    get connections() {
      return connections;
    },
    handle(next) {
      handler = next;
    },
    async waitFor(predicate, timeoutMs = WAIT_LIMIT_MS) {
      try {
        return await log.waitFor(predicate, timeoutMs);
      } catch (error) {
        throw new Error(withWarnings(String(error)), { cause: error });
      }
    },
    close,
  };
}

/** Requests that have been received so far, and a way to wait for more without polling. */
class RequestLog<T> {
  readonly entries: T[] = [];
  readonly #events = new EventEmitter().setMaxListeners(0);

  add(entry: T): void {
    this.entries.push(entry);
    this.changed();
  }

  /** To be called after an entry was altered: conditions are looked at again. */
  changed(): void {
    this.#events.emit('changed');
  }

  /** Resolves with a copy of the entries once `predicate` accepts them. @throws after `timeoutMs` */
  async waitFor(predicate: (entries: readonly T[]) => boolean, timeoutMs: number): Promise<T[]> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    try {
      while (!predicate(this.entries)) {
        await once(this.#events, 'changed', { signal: late.signal }).catch(() => {
          throw new Error(`Waited ${timeoutMs} ms in vain; ${this.entries.length} requests received`);
        });
      }
      return [...this.entries];
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Answers at once. */
export function reply(status: number, headers: Record<string, string> = {}, body = ''): Handler {
  return (_request, response) => void response.writeHead(status, headers).end(body);
}

/** Handler i answers attempt i of each `webhook-id`; the last one answers all that follow. */
export function inTurn(...handlers: [Handler, ...Handler[]]): Handler {
  const attempts = new Map<string, number>();
  return (request, response, body) => {
    const id = String(request.headers['webhook-id'] ?? '');
    const index = attempts.get(id) ?? 0;
    attempts.set(id, index + 1);
    return (handlers[index] ?? (handlers.at(-1) as Handler))(request, response, body);
  };
}

/** Takes the request and never answers. */
export const neverAnswer: Handler = () => {};

/** Closes the connection instead of answering. */
export const hangUp: Handler = (request) => void request.socket.destroy();

/** Sends the headers and the start of a body that never ends. */
export function stalledBody(status = 200, start = 'x'): Handler {
  return (_request, response) => void response.writeHead(status).write(start);
}

/** Sends the headers, then a body without end as fast as it is read, until the caller closes. */
export function endlessBody(status = 200): Handler {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  function* chunks() {
    while (true) yield chunk;
  }
  return async (_request, response) => {
    response.writeHead(status);
    await pipeline(chunks, response).catch(() => {}); // ends only with the connection
  };
}

let authority: Promise<CertificateAuthority & { certFile: string }> | undefined;
let certificate: Promise<ServerCertificate> | undefined;

/** The authority shared by all tests of this process; `certFile` is its certificate in a temporary folder. */
export function testAuthority(): Promise<CertificateAuthority & { certFile: string }> {
  if (!authority) {
    const folder = mkdtempSync(join(tmpdir(), 'hookline-test-ca-'));
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    authority = loadOrCreateAuthority(folder);
  }
  return authority;
}

/** A certificate of {@link testAuthority} for `localhost`, 127.0.0.1 and ::1. */
export function testCertificate(): Promise<ServerCertificate> {
  certificate ??= testAuthority().then((ca) =>
    issueServerCertificate(ca, { dns: ['localhost'], ips: ['127.0.0.1', '::1'] }),
  );
  return certificate;
}
