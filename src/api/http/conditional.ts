import { matchesEtag } from '../../domain/http/etag.js';
import { Problem } from '../../domain/http/problem.js';
import type { Context } from './context.js';

/**
 * Answers a read with its entity tag: `304` without a body where the caller has this version already (RFC 9110, section 13.1.2).
 *
 * @param etag strong, with its quotes
 */
export function answerTagged(ctx: Context, etag: string, body: unknown): void {
  ctx.set({ etag, 'cache-control': 'private, no-cache', vary: 'Authorization' });
  const known = ctx.get('if-none-match');
  if (known && matchesEtag(known, etag, true)) {
    ctx.status = 304;
    return;
  }
  ctx.body = body;
}

/** Refuses a change of a version that the caller has not seen. @throws Problem 412 where `If-Match` does not hold the tag */
export function requireMatch(ctx: Context, etag: string): void {
  const expected = ctx.get('if-match');
  if (expected && !matchesEtag(expected, etag, false)) throw changedMeanwhile();
}

/** It is no longer what the caller saw. */
export function changedMeanwhile(): Problem {
  return new Problem(
    'precondition_failed',
    'It has been changed since you read it. Read it again, and send the change with its new ETag as If-Match.',
  );
}
