import type { Logger } from 'pino';
import { newId } from '../../../domain/basics/ids.js';
import type { Tracing } from '../../../domain/trace/tracing.js';
import type { Middleware } from '../context.js';
import type { Metrics } from '../metrics.js';

/** Paths that probes and Prometheus ask for again and again. They are not counted. */
const PROBES = new Set(['/healthz', '/readyz', '/metrics']);

/** Counts requests and measures the time to their answers. */
export function measure({ requests, requestDuration }: Metrics): Middleware {
  return unlessProbe(async (ctx, next) => {
    const began = performance.now();
    try {
      await next();
    } finally {
      // None: of a page or document, an unknown path, or a request that was refused before its path was looked at.
      const operation = ctx.state.operation ?? 'none';
      requests.inc({ operation, status: ctx.status });
      requestDuration.observe({ operation }, (performance.now() - began) / 1_000);
    }
  });
}

/** A middleware that probes pass by. */
export function unlessProbe(middleware: Middleware): Middleware {
  return (ctx, next) => (PROBES.has(ctx.path) ? next() : middleware(ctx, next));
}

/** A subject in a path: the person's e-mail address, for one. */
const SUBJECT = /^(\/[^/]+\/subjects\/)(?!erase$).+/;

/**
 * Gives every request an id, which is in the response and in the log, and writes one log line when the request has
 * ended. The line contains the path without its query, which may contain a token, without the value of a subject, and
 * with nothing of any body.
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

/**
 * Traces each request, and leaves where what it starts continues. It continues the trace of a caller that sends a
 * `traceparent`.
 */
export function traceRequests(tracing: Pick<Tracing, 'request'>): Middleware {
  return async (ctx, next) => {
    const sent = { traceparent: ctx.get('traceparent'), tracestate: ctx.get('tracestate') };
    const trace = tracing.request(ctx.method, ctx.state.request_id, sent);
    ctx.state.trace = trace.headers;
    try {
      await next();
    } finally {
      trace.end({
        operation: ctx.state.operation,
        status: ctx.status,
        accountId: ctx.state.caller?.account_id,
      });
    }
  };
}
