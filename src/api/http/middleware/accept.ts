import { Problem } from '../../../domain/http/problem.js';
import type { Middleware } from '../context.js';

/** Paths whose responses can be read in a terminal, too. */
const ALSO_TEXT = /^\/[^/]+\/(?:deliveries\/[^/]+\/timeline|exports)\/?$/;

/** Paths whose responses have a JSON text on each line. */
const LINES = /^\/[^/]+\/exports\/?$/;

/** Paths whose responses can be read by spreadsheets, too. */
const ALSO_CSV = /^\/[^/]+\/installation\/usage\/?$/;

/** Refuses requests whose Accept header excludes JSON. @throws Problem 406 */
export const requireJsonAccepted: Middleware = (ctx, next) => {
  const types = [
    'application/json',
    ...(ALSO_TEXT.test(ctx.path) ? ['text/plain'] : []),
    ...(ALSO_CSV.test(ctx.path) ? ['text/csv'] : []),
    ...(LINES.test(ctx.path) ? ['application/x-ndjson'] : []),
  ];
  if (ctx.get('accept') !== '' && !ctx.accepts(types)) {
    throw new Problem(
      'not_acceptable',
      'Responses are JSON: leave the Accept header out, or include application/json.',
    );
  }
  return next();
};
