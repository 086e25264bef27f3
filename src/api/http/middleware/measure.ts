import type { Middleware } from '../context.js';
import type { Metrics } from '../metrics.js';

/** The operation of a request that reached none: a page or document, an unknown path, or a request refused before its path was looked at. */
const NO_OPERATION = 'none';

/** Paths that probes and Prometheus ask for again and again. They are not counted. */
const PROBES = new Set(['/healthz', '/readyz', '/metrics']);

/** Counts requests and measures the time to their answers. */
export function measure({ requests, requestDuration }: Metrics): Middleware {
  return unlessProbe(async (ctx, next) => {
    const began = performance.now();
    try {
      await next();
    } finally {
      const operation = ctx.state.operation ?? NO_OPERATION;
      requests.inc({ operation, status: ctx.status });
      requestDuration.observe({ operation }, (performance.now() - began) / 1_000);
    }
  });
}

/** A middleware that probes pass by. */
export function unlessProbe(middleware: Middleware): Middleware {
  return (ctx, next) => (PROBES.has(ctx.path) ? next() : middleware(ctx, next));
}
