import { Agent, request } from 'undici';
import type { HttpAnswer, HttpPoster, HttpTrace } from '../ports.js';
import { type ConnectorOptions, createConnector } from './connector.js';
import { ExchangeTrace, traced } from './exchange-trace.js';
import { describeFailure } from './failure.js';

/** Of an answer's body, no more than this is read, in bytes. */
const MAX_BODY_BYTES = 16 * 1024;
/** The whole head of an answer, in bytes. */
const MAX_HEADER_BYTES = 16 * 1024;
/** Origins with connections, all in all; beyond, an attempt fails rather than that this process runs out of sockets. */
const MAX_ORIGINS = 10_000;
/** How long an idle connection is kept for the next delivery, and at most where the endpoint asks for longer. */
const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MAX_MS = 60_000;

/**
 * A client that connects to guarded addresses only, verifies certificates, follows no redirects and reads bounded answers. It makes a
 * connection for each request that finds none idle, so no request waits for another: how many are in flight is limited for each
 * endpoint, by whoever sends them.
 */
export function createPoster(options: ConnectorOptions): HttpPoster & { close(): Promise<void> } {
  const agent = new Agent({
    connect: createConnector(options),
    maxOrigins: MAX_ORIGINS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    // One limit covers the whole attempt; undici's own, of single phases, would only blur it.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  const exchange: HttpPoster['exchange'] = async ({ method, url, headers, body, timeoutMs }) => {
    const limit = AbortSignal.timeout(timeoutMs);
    const trace = new ExchangeTrace();
    const send = () =>
      request(url, {
        method,
        headers,
        ...(body !== undefined && { body }),
        dispatcher: agent,
        signal: limit,
      });
    try {
      const response = await untilAborted(limit, traced(trace, send));
      trace.end('first_byte');
      return {
        statusCode: response.statusCode,
        headers: response.headers,
        ...(await readBeginning(response.body)),
        trace: factsOf(trace),
      };
    } catch (error) {
      return { ...describeFailure(error, limit.aborted, timeoutMs), trace: factsOf(trace) };
    }
  };

  return {
    exchange,
    close: () => agent.destroy(),
  };
}

/** A copy: what a connection does after the exchange has ended is not part of it. */
function factsOf({ address, timings }: ExchangeTrace): HttpTrace {
  return { ...(address !== undefined && { address }), timings: { ...timings } };
}

/** undici heeds a signal only once it is connected: looking up, connecting and TLS must not outlast the limit either. */
async function untilAborted<T>(limit: AbortSignal, work: Promise<T>): Promise<T> {
  const ended = new Promise<never>((_, reject) => {
    limit.addEventListener('abort', () => reject(limit.reason), { once: true });
  });
  return Promise.race([work, ended]);
}

/** The beginning of the body. The answer has come, so whatever happens to its body does not matter any more. */
async function readBeginning(
  body: AsyncIterable<Buffer>,
): Promise<Pick<HttpAnswer, 'body' | 'bodyBytes' | 'isCut'>> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= MAX_BODY_BYTES) break;
    }
  } catch {
    // Too slow, or cut off: what has come is kept.
  }
  return {
    body: Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES).toString('utf8'),
    bodyBytes: length,
    isCut: length >= MAX_BODY_BYTES,
  };
}
