import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import type { z } from 'zod';
import { findLostDigits } from '../../../packages/payload-contract/src/index.js';
import { escapePointer } from '../../../packages/payload-contract/src/json-pointer.js';
import { parseUnicodeJson } from '../../domain/event/payload.js';
import { Problem } from '../../domain/http/problem.js';
import { requireShallow } from './bounds/nesting.js';
import { takeTurn } from './bounds/turns.js';
import type { Context } from './context.js';
import { checkBody, checkQuery, invalidRequest } from './validation.js';

/**
 * Reads a JSON body, as bytes, and waits until it may be parsed: large ones take turns.
 *
 * @param limit bytes
 * @throws Problem 400 for a request without a body, 415 for another media type or an encoded body, 413 beyond the limit
 */
export async function readJsonBytes(ctx: Context, limit: number): Promise<Buffer> {
  // A missing body is reported as such, whatever its content type.
  if (isEmptyRequest(ctx))
    throw new Problem('invalid_json', 'The body is empty. Send JSON, with Content-Type: application/json.');
  if (!ctx.is('json', '+json')) {
    throw new Problem('unsupported_media_type', 'Send JSON, with Content-Type: application/json.');
  }
  const encoding = ctx.get('content-encoding');
  if (encoding && encoding !== 'identity') {
    throw new Problem(
      'unsupported_media_type',
      `Send the body uncompressed, without Content-Encoding: ${encoding}.`,
    );
  }
  try {
    const bytes = await getRawBody(ctx.req, { limit, length: ctx.request.length ?? null });
    await takeTurn(ctx, 'body', bytes.length);
    return bytes;
  } catch (error) {
    if (error instanceof Error && 'type' in error && error.type === 'entity.too.large') {
      const ended = await drain(ctx.req);
      throw new Problem('payload_too_large', `The body is larger than ${limit} bytes. Send less.`, {
        ...(!ended && { headers: { connection: 'close' } }),
      });
    }
    if (error instanceof Error && 'type' in error) {
      throw new Problem('invalid_request', 'The body ended too early. Send it again.', { cause: error });
    }
    throw error;
  }
}

/** Whether a request has no body. A body follows a request that says so by one of two headers (RFC 9112, section 6). */
export function isEmptyRequest({ req: { headers } }: Context): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

/** How much of a body that is too large is read and thrown away before it is refused. */
const DRAINED = { bytes: 8 * 1024 * 1024, ms: 3_000 };

/**
 * Reads on without keeping anything. Most clients write their whole body before they read: one whose connection is
 * closed meanwhile sees a broken pipe instead of the response.
 *
 * @returns whether the body has ended, so that the connection can be used again
 */
function drain(request: IncomingMessage): Promise<boolean> {
  return new Promise((resolve) => {
    let left = DRAINED.bytes;
    const stop = (ended: boolean) => {
      clearTimeout(timer);
      request.off('data', count).pause();
      resolve(ended);
    };
    const count = (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) stop(false);
    };
    const timer = setTimeout(stop, DRAINED.ms, false);
    request.once('end', () => stop(true)).once('close', () => stop(false));
    request.on('data', count).resume();
  });
}

/**
 * Reads and checks a JSON body of at most 64 KiB: of a request other than an event.
 *
 * @throws Problem 400 with a pointer to every wrong place
 */
export async function readBody<T extends z.ZodType>(ctx: Context, schema: T): Promise<z.output<T>> {
  return checkBytes(schema, await readJsonBytes(ctx, 64 * 1024));
}

/** Parses a JSON text and checks it against a schema. @throws Problem 400 with a pointer to every wrong place */
export function checkBytes<T extends z.ZodType>(schema: T, json: Buffer): z.output<T> {
  requireShallow(json);
  const text = json.toString('utf8');
  const value = parseUnicodeJson(text);
  refuseLostDigits(text);
  refusePrototypes(value, text);
  return checkBody(schema, value);
}

/** Refuses numbers that would be kept as others: a rounded bound or value is not what was meant. @throws Problem 400 */
function refuseLostDigits(text: string): void {
  const detail =
    'is a number that would lose digits: send at most 15 significant ones, and an exponent within those of IEEE 754';
  const errors = findLostDigits(text).map((pointer) => ({ pointer, detail }));
  if (errors.length > 0) throw invalidRequest(errors);
}

/**
 * Refuses members named `__proto__`: what copies an object, or checks it by a schema, leaves them out. @throws Problem
 * 400
 */
function refusePrototypes(value: unknown, text: string): void {
  // Escapes can spell the name as well.
  if (!/__proto__|\\u/.test(text)) return;
  const pointers = pointersTo('__proto__', value);
  const detail = 'is a name that cannot be kept: use another one';
  if (pointers.length > 0) throw invalidRequest(pointers.map((pointer) => ({ pointer, detail })));
}

function pointersTo(wanted: string, value: unknown, pointer = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const here = `${pointer}/${escapePointer(name)}`;
    return name === wanted ? [here] : pointersTo(wanted, inner, here);
  });
}

/** Reads and checks the query. @throws Problem 400 naming every wrong parameter */
export function readQuery<T extends z.ZodType>(ctx: Context, schema: T): z.output<T> {
  const { access_token: _, ...query } = ctx.query;
  return checkQuery(schema, query);
}
