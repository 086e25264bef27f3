import { matchesEtag } from '../../domain/http/etag.js';
import { Problem } from '../../domain/http/problem.js';
import type { Context } from './context.js';

/** Declaration of an operation whose response has an entity tag. */
export const IF_NONE_MATCH = {
  'If-None-Match': 'The ETag of an earlier response: the response is 304 if nothing has changed',
};
export const NOT_CHANGED = { 304: { description: 'Not changed since the response with that ETag' } };

/**
 * Answers a read with its entity tag: `304` without a body if the caller already has this version (RFC 9110, section
 * 13.1.2). Koa's `ctx.fresh` cannot decide this: it takes `Cache-Control: no-cache` as a demand for the body, and
 * `fetch` sends that along with every `If-None-Match`.
 *
 * @param etag strong, with its quotes
 */
export function answerTagged(ctx: Context, etag: string, body: unknown): void {
  ctx.set({ etag, 'cache-control': 'private, no-cache', vary: 'Authorization, Hookline-Account' });
  const known = ctx.get('if-none-match');
  if (known && matchesEtag(known, etag, true)) {
    ctx.status = 304;
    return;
  }
  ctx.body = body;
}

/** Refuses to change a version that the caller has not seen. @throws Problem 412 if `If-Match` does not list the tag */
export function requireMatch(ctx: Context, etag: string): void {
  const expected = ctx.get('if-match');
  if (expected && !matchesEtag(expected, etag, false)) throw changedMeanwhile();
}

/** The resource is no longer what the caller read. */
export function changedMeanwhile(): Problem {
  return new Problem(
    'precondition_failed',
    'The resource has changed since you read it. Read it again, and send your change with the new ETag in If-Match.',
  );
}
