import type { Logger } from 'pino';
import { newId } from '../../../domain/basics/ids.js';
import type { Middleware } from '../context.js';

/** A subject in a path: the person's e-mail address, for one. */
const SUBJECT = /^(\/[^/]+\/subjects\/)(?!erase$).+/;

/**
 * Gives every request an id, which is in the answer and in the log, and writes one log line when the request has ended. The line contains
 * the path without its query, which may contain a token, without the value of a
 * subject, and with nothing of any body.
 */
export function identifyRequest(logger: Logger): Middleware {
  return async (ctx, next) => {
    const began = performance.now();
    ctx.state.request_id = newId('request');
    ctx.set('x-request-id', ctx.state.request_id);
    try {
      await next();
    } finally {
      logger.info(
        {
          request_id: ctx.state.request_id,
          method: ctx.method,
          path: ctx.path.replace(SUBJECT, '$1…'),
          status: ctx.status,
          duration_ms: Math.round(performance.now() - began),
          account_id: ctx.state.caller?.account_id,
          caller: ctx.state.caller?.id,
        },
        'request',
      );
    }
  };
}
