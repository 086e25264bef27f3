import { Problem } from '../../../domain/http/problem.js';
import type { Middleware } from '../context.js';

/** Refuses requests whose Accept header excludes JSON. @throws Problem 406 */
export const requireJsonAccepted: Middleware = (ctx, next) => {
  if (ctx.get('accept') !== '' && !ctx.accepts('application/json')) {
    throw new Problem(
      'not_acceptable',
      'Responses are JSON: leave the Accept header out, or include application/json.',
    );
  }
  return next();
};
