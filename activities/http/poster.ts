import { isIP } from 'node:net';
import { rootCertificates } from 'node:tls';
import { Agent, buildConnector, request } from 'undici';
import type { HttpPoster, PostResult } from '../ports.js';
import { type AddressGuard, BlockedAddressError } from './address-guard.js';
import { describeFailure } from './failure.js';

/** Of an answer's body, no more than this is read, in bytes. */
const MAX_BODY_BYTES = 16 * 1024;
/** Of what was read, no more than this is kept, in characters: it travels in the delivery's record. */
const SNIPPET_LENGTH = 1_024;
/** The whole head of an answer, in bytes. */
const MAX_HEADER_BYTES = 16 * 1024;
/** A connection that is still not there then is given up for good, milliseconds; the attempt it was for has ended at its own limit. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Connections to one origin, so that one endpoint cannot use them all up. */
const CONNECTIONS_PER_ORIGIN = 64;
const KEPT_HEADERS = ['content-type', 'date', 'retry-after', 'server', 'x-request-id'] as const;
const KEPT_HEADER_LENGTH = 256;

export interface PosterOptions {
  guard: AddressGuard;
  /** PEM certificates of authorities that are trusted besides the public ones. */
  extraCa: readonly string[];
}

/** A poster that connects to guarded addresses only, verifies certificates, follows no redirects and reads bounded answers. */
export function createPoster({ guard, extraCa }: PosterOptions): HttpPoster & { close(): Promise<void> } {
  const agent = new Agent({
    connect: guardedConnector(guard, extraCa),
    connections: CONNECTIONS_PER_ORIGIN,
    maxHeaderSize: MAX_HEADER_BYTES,
    // One limit covers the whole attempt; undici's own, of single phases, would only blur it.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  return {
    async post(url, headers, body, timeoutMs) {
      const limit = AbortSignal.timeout(timeoutMs);
      try {
        const response = await within(
          limit,
          request(url, { method: 'POST', headers, body, dispatcher: agent, signal: limit }),
        );
        const kept = keepHeaders(response.headers);
        const snippet = await readSnippet(response.body);
        const retryAfter = single(response.headers['retry-after']);
        return {
          status_code: response.statusCode,
          ...(Object.keys(kept).length > 0 && { response_headers: kept }),
          ...(snippet !== '' && { response_snippet: snippet }),
          ...(retryAfter !== undefined && { retry_after: retryAfter }),
        } satisfies PostResult;
      } catch (error) {
        return describeFailure(error, limit.aborted, timeoutMs);
      }
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

function guardedConnector(guard: AddressGuard, extraCa: readonly string[]): buildConnector.connector {
  const connect = buildConnector({
    lookup: guard.lookup,
    timeout: CONNECT_TIMEOUT_MS,
    ...(extraCa.length > 0 && { ca: [...rootCertificates, ...extraCa] }),
  });
  return (options, callback) => {
    // A literal address is not looked up, so the guard would not be asked.
    const literal = options.hostname.replace(/^\[|\]$/g, '');
    if (isIP(literal) && !guard.allows(literal)) return callback(new BlockedAddressError(), null);
    connect(options, callback);
  };
}

/** The beginning of the body. The answer has come, so whatever happens to its body does not matter any more. */
async function readSnippet(body: AsyncIterable<Buffer>): Promise<string> {
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
  return Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES).toString('utf8').slice(0, SNIPPET_LENGTH);
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
