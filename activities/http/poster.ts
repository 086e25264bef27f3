import { Agent, request } from 'undici';
import type { HttpAnswer, HttpPoster, HttpTrace } from '../ports.js';
import { type ConnectorOptions, createConnector } from './connector.js';
import { ExchangeTrace, traced } from './exchange-trace.js';
import { describeFailure } from './failure.js';

/** The most that is read of an answer's body, bytes. */
const MAX_BODY_BYTES = 16 * 1024;
/** The most that an answer's headers may take together, bytes. */
const MAX_HEADER_BYTES = 16 * 1024;
/** The most origins with open connections. Beyond it attempts fail, so that the process does not run out of sockets. */
const MAX_ORIGINS = 10_000;
/** How long an idle connection is kept for the next delivery, and the most if the endpoint asks for longer. */
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
    // One limit covers the whole attempt, so undici's limits of single phases are off.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  const exchange: HttpPoster['exchange'] = async ({ method, url, headers, body, timeoutMs }) => {
    // Not AbortSignal.timeout: Node.js keeps one that is listened to, and the exchange with it, until the time is over.
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), timeoutMs);
    const trace = new ExchangeTrace();
    const send = () =>
      request(url, {
        method,
        headers,
        ...(body !== undefined && { body }),
        dispatcher: agent,
        signal: limit.signal,
      });
    try {
      const response = await untilAborted(limit.signal, traced(trace, send));
      trace.end('first_byte');
      return {
        statusCode: response.statusCode,
        headers: response.headers,
        ...(await readBeginning(response.body)),
        trace: factsOf(trace),
      };
    } catch (error) {
      return { ...describeFailure(error, limit.signal.aborted, timeoutMs), trace: factsOf(trace) };
    } finally {
      clearTimeout(timer);
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

/** undici observes a signal only once it is connected. Looking up, connecting and TLS must end at the limit too. */
async function untilAborted<T>(limit: AbortSignal, work: Promise<T>): Promise<T> {
  const ended = new Promise<never>((_, reject) => {
    limit.addEventListener('abort', () => reject(limit.reason), { once: true });
  });
  return Promise.race([work, ended]);
}

/** The beginning of the body. The answer has arrived, so errors while its body is read are ignored. */
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
    // Too slow, or cut off: what has arrived is kept.
  }
  return {
    body: Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES).toString('utf8'),
    bodyBytes: length,
    isCut: length >= MAX_BODY_BYTES,
  };
}
