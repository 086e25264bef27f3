import type { Tracing } from '../../../domain/trace/tracing.js';
import type { Middleware } from '../context.js';

/** Traces each request, and leaves where what it starts continues. It continues the trace of a caller that sends a `traceparent`. */
export function traceRequests(tracing: Pick<Tracing, 'request'>): Middleware {
  return async (ctx, next) => {
    const trace = tracing.request(ctx.method, ctx.state.request_id, ctx.get('traceparent') || undefined);
    ctx.state.traceparent = trace.traceparent;
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
