import type { Context, Middleware } from '../context.js';
import { outOfReach } from './problems.js';

/**
 * Answers within a time limit, whatever hangs behind: `503` if the work has not ended by then. It is the last guard,
 * for servers that accept calls and stay silent. The work is not stopped, so the response says only what is known. A
 * request that is still being sent may take longer: then its sender is what takes long. So may one that was asked to
 * wait, as long as it does that.
 *
 * @param limitMs from the request's arrival, or from its last byte
 * @param isUnavailable receives errors that come after the response
 */
export function limitTime(limitMs: number, isUnavailable: (error: unknown) => boolean): Middleware {
  return async (ctx, next) => {
    const work = next();
    const limit = startLimit(ctx, limitMs);
    try {
      await Promise.race([work, limit.expired]);
    } finally {
      limit.stop();
      if (limit.hasExpired()) {
        // The OAuth library may have taken the response over; it has not given it.
        if (!ctx.headerSent) ctx.respond = true;
        work.catch(isUnavailable);
      }
    }
  };
}

function startLimit(ctx: Context, limitMs: number) {
  let timer: NodeJS.Timeout;
  let hasExpired = false;
  const expired = new Promise<never>((_, reject) => {
    const start = () => {
      timer = setTimeout(() => {
        if (isBeingSent(ctx)) {
          ctx.req.once('close', start);
          return;
        }
        if (ctx.state.isWaiting) {
          start();
          return;
        }
        hasExpired = true;
        reject(outOfReach(ctx));
      }, limitMs);
    };
    start();
  });
  return { expired, hasExpired: () => hasExpired, stop: () => clearTimeout(timer) };
}

/** Whether the body is being read and has not arrived whole. */
function isBeingSent({ req }: Context): boolean {
  return !req.complete && req.readableFlowing === true;
}
