import { Agent, request } from 'undici';
import type { HttpPoster, PostResult } from '../ports.js';
import { type ConnectorOptions, createConnector } from './connector.js';
import { describeFailure } from './failure.js';

/** Of an answer's body, no more than this is read, in bytes. */
const MAX_BODY_BYTES = 16 * 1024;
/** Of what was read, no more than this is kept, in characters: it travels in the delivery's record. */
const SNIPPET_LENGTH = 1_024;
/** The whole head of an answer, in bytes. */
const MAX_HEADER_BYTES = 16 * 1024;
/** Connections to one origin, so that one endpoint cannot use them all up. */
const CONNECTIONS_PER_ORIGIN = 64;
/** Origins with connections, all in all; beyond, an attempt fails rather than that this process runs out of sockets. */
const MAX_ORIGINS = 10_000;
/** How long an idle connection is kept for the next delivery, and at most where the endpoint asks for longer. */
const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MAX_MS = 60_000;
const KEPT_HEADERS = ['content-type', 'date', 'retry-after', 'server', 'x-request-id'] as const;
const KEPT_HEADER_LENGTH = 256;

/** A client that connects to guarded addresses only, verifies certificates, follows no redirects and reads bounded answers. */
export function createPoster(options: ConnectorOptions): HttpPoster & { close(): Promise<void> } {
  const agent = new Agent({
    connect: createConnector(options),
    connections: CONNECTIONS_PER_ORIGIN,
    maxOrigins: MAX_ORIGINS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    // One limit covers the whole attempt; undici's own, of single phases, would only blur it.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  const exchange: HttpPoster['exchange'] = async ({ method, url, headers, body, timeout_ms }) => {
    const limit = AbortSignal.timeout(timeout_ms);
    try {
      const response = await within(
        limit,
        request(url, {
          method,
          headers,
          ...(body !== undefined && { body }),
          dispatcher: agent,
          signal: limit,
        }),
      );
      return {
        status_code: response.statusCode,
        headers: response.headers,
        body: await readBeginning(response.body),
      };
    } catch (error) {
      return describeFailure(error, limit.aborted, timeout_ms);
    }
  };

  return {
    exchange,
    async post(url, headers, body, timeoutMs) {
      const answer = await exchange({ method: 'POST', url, headers, body, timeout_ms: timeoutMs });
      if ('error_code' in answer) return answer;
      const kept = keepHeaders(answer.headers);
      const snippet = answer.body.slice(0, SNIPPET_LENGTH);
      const retryAfter = single(answer.headers['retry-after']);
      return {
        status_code: answer.status_code,
        ...(Object.keys(kept).length > 0 && { response_headers: kept }),
        ...(snippet !== '' && { response_snippet: snippet }),
        ...(retryAfter !== undefined && { retry_after: retryAfter }),
      } satisfies PostResult;
    },
    close: () => agent.destroy(),
  };
}

/** undici heeds a signal only once it is connected: looking up, connecting and TLS must not outlast the limit either. */
async function within<T>(limit: AbortSignal, work: Promise<T>): Promise<T> {
  const ended = new Promise<never>((_, reject) => {
    limit.addEventListener('abort', () => reject(limit.reason), { once: true });
  });
  return Promise.race([work, ended]);
}

/** The beginning of the body. The answer has come, so whatever happens to its body does not matter any more. */
async function readBeginning(body: AsyncIterable<Buffer>): Promise<string> {
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
  return Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES).toString('utf8');
}

function keepHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    KEPT_HEADERS.flatMap((name) => {
      const value = single(headers[name]);
      return value === undefined ? [] : [[name, value.slice(0, KEPT_HEADER_LENGTH)]];
    }),
  );
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
