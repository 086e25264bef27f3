import { Problem } from '../../../domain/http/problem.js';
import type { Middleware } from '../context.js';

/** Refuses a caller who takes nothing that we have. @throws Problem 406 */
export const requireJsonAccepted: Middleware = (ctx, next) => {
  if (ctx.get('accept') !== '' && !ctx.accepts('application/json')) {
    throw new Problem(
      'not_acceptable',
      'The answer is JSON: leave the Accept header out, or let it hold application/json.',
    );
  }
  return next();
};
