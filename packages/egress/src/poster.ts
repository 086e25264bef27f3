import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { Agent, type Dispatcher } from 'undici';
import { type ConnectorOptions, createConnector } from './connector.js';
import { deadline } from './deadline.js';
import { digestOf } from './digest.js';
import type { ClientCertificate, HttpAnswer, HttpTrace, Poster } from './exchange.js';
import { ExchangeTrace, traced } from './exchange-trace.js';
import { describeFailure, MAX_HEADER_KIB } from './failure.js';
import './informational.js';
import { UnresolvedNameError } from './names/name-answer.js';

/** The most that is kept of a response's body, bytes; with one more read, it is known to be longer. */
const MAX_BODY_BYTES = 16 * 1024;
/** Client certificates of endpoints whose connections are kept: those that were used last. */
const MAX_CERTIFICATES = 200;
/** The most informational responses before a response. */
const MAX_INFORMATIONAL = 50;

/**
 * A client that connects to guarded addresses only, verifies certificates, follows no redirects and reads bounded
 * answers. It makes a connection for each request that finds none idle, so no request waits for another: the sender
 * limits how many are in flight for each endpoint.
 */
export function createPoster(options: ConnectorOptions): Poster {
  const agent = createAgent(options);
  // A client certificate identifies the opener of a connection, so connections are shared per certificate only.
  const agents = new LRUCache<string, Agent>({
    max: MAX_CERTIFICATES,
    dispose: (one) => void one.close(),
  });
  const agentOf = ({ certificate: cert, private_key: key }: ClientCertificate): Agent => {
    const name = hash('sha256', JSON.stringify([cert, key]));
    const known = agents.get(name) ?? createAgent({ ...options, clientCertificate: { cert, key } });
    agents.set(name, known);
    return known;
  };

  const exchange: Poster['exchange'] = async ({ clientCertificate, ...asked }) => {
    const { method, url, headers, body, timeoutMs, account } = asked;
    const trace = new ExchangeTrace(timeoutMs, account);
    const reader = new AnswerReader(trace);
    const callOff = deadline(timeoutMs, () => reader.giveUp());
    try {
      const { origin, pathname, search } = new URL(url);
      const request = {
        origin,
        path: pathname + search,
        method,
        // RFC 9110, section 12.5.3: without it any coding is acceptable.
        headers: { ...headers, 'accept-encoding': 'identity' },
        ...(body !== undefined && { body }),
      };
      // undici's `request` also makes a stream for the body, which takes more than half as long as the exchange itself.
      const by = clientCertificate ? agentOf(clientCertificate) : agent;
      traced(trace, () => by.dispatch(request, reader));
      return { ...(await reader.answer), trace: factsOf(trace) };
    } catch (error) {
      // Its own limit ended it: what it waited for is the cause.
      const isUnresolved = error instanceof UnresolvedNameError;
      const described =
        reader.gaveUp && (trace.isResolving || isUnresolved)
          ? describeFailure(isUnresolved ? error : new UnresolvedNameError('silent'), false, timeoutMs)
          : describeFailure(error, reader.gaveUp, timeoutMs);
      return { ...described, trace: factsOf(trace) };
    } finally {
      callOff();
      trace.over();
    }
  };

  return {
    exchange,
    close: async () => {
      await Promise.all([agent, ...agents.values()].map((one) => one.destroy()));
    },
  };
}

function createAgent(options: ConnectorOptions): Agent {
  return new Agent({
    connect: createConnector(options),
    // Beyond so many origins with open connections attempts fail, so that the process does not run out of sockets.
    maxOrigins: 10_000,
    // How long an idle connection is kept for the next delivery, and the most if the endpoint asks for longer.
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 60_000,
    maxHeaderSize: MAX_HEADER_KIB * 1_024,
    // One limit covers the whole attempt, so undici's limits of single phases are off.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/** A copy: what a connection does after the exchange has ended is not part of it. */
function factsOf({ address, timings }: ExchangeTrace): HttpTrace {
  return { ...(address !== undefined && { address }), timings: { ...timings } };
}

/** Reads a response and the beginning of its body, until there is enough of it or no more time. */
class AnswerReader implements Dispatcher.DispatchHandler {
  /** Rejects if none came. If its body is too slow, or cut off, what has arrived is kept. */
  readonly answer: Promise<HttpAnswer>;
  /** Whether there was no more time. */
  gaveUp = false;
  private readonly trace: ExchangeTrace;
  private head: Pick<HttpAnswer, 'statusCode' | 'headers'> | undefined;
  private readonly chunks: Buffer[] = [];
  private length = 0;
  private isWhole = false;
  private informational = 0;
  private controller: Dispatcher.DispatchController | undefined;
  private resolve: (answer: HttpAnswer) => void = () => {};
  private reject: (error: Error) => void = () => {};

  constructor(trace: ExchangeTrace) {
    this.trace = trace;
    this.answer = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** There is no more time, whether the request waits for a connection or its response. */
  giveUp(): void {
    this.gaveUp = true;
    this.stop();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    // A connection that opens too late: nothing is sent.
    if (this.gaveUp) this.stop();
  }

  onResponseStart(_: unknown, statusCode: number, headers: HttpAnswer['headers']): void {
    // An informational response comes before the response (RFC 9110, section 15.2).
    if (statusCode < 200) {
      this.informational += 1;
      if (this.informational > MAX_INFORMATIONAL) this.stop(new EndlessInformationError());
      return;
    }
    this.trace.end('first_byte');
    this.head = { statusCode, headers };
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.chunks.push(chunk);
    this.length += chunk.length;
    if (this.length > MAX_BODY_BYTES) this.stop();
  }

  onResponseEnd(): void {
    this.isWhole = this.length <= MAX_BODY_BYTES;
    this.end();
  }

  onResponseError(_: unknown, error: Error): void {
    this.end(error);
  }

  /** Reads no more, and closes the connection: what is still to come on it belongs to nobody. */
  private stop(error = new Error('stopped')): void {
    this.end(error);
    this.controller?.abort(error);
  }

  private end(error?: Error): void {
    if (this.head) {
      const read = Buffer.concat(this.chunks).subarray(0, MAX_BODY_BYTES);
      this.resolve({
        ...this.head,
        body: read.toString('utf8'),
        bodyBytes: read.length,
        bodySha256: digestOf(read),
        isCut: !this.isWhole,
      });
    } else {
      this.reject(error ?? new Error('no response'));
    }
  }
}

/** An endpoint goes on answering that there will be a response. */
class EndlessInformationError extends Error {
  readonly code = 'ERR_EGRESS_ENDLESS';
}
