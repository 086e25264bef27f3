import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  type IdGenerator,
  ParentBasedSampler,
  RandomIdGenerator,
  type ReadableSpan,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { deliveryId } from '../../../domain/basics/delivery-id.js';
import { RELEASE } from '../../../domain/basics/release.js';
import type { AttemptRequest } from '../../../domain/delivery/attempt-request.js';
import { hostOf } from '../../../domain/ledger/summaries.js';
import type { Closing } from '../../../domain/stats/closing.js';
import {
  deliverySpanId,
  formatTraceparent,
  parseTraceparent,
  type TraceContext,
} from '../../../domain/trace/trace-context.js';
import type { AttemptTrace, RequestTrace, Tracing } from '../../../domain/trace/tracing.js';

export interface OpenTelemetryOptions {
  /** Where spans are posted, as OTLP over HTTP with JSON. */
  url: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  /** The part of the traces that is recorded, 0 to 1. */
  ratio: number;
  /** Between two posts, milliseconds. */
  intervalMs: number;
}

/** For one post of spans, milliseconds. A service that stops waits for the last one. */
const EXPORT_TIMEOUT_MS = 5_000;

/** Records spans and posts them in batches. What cannot be posted is dropped. */
export class OpenTelemetry implements Tracing {
  private readonly provider: TracerProvider;
  private readonly tracer: Tracer;
  private readonly ids = new SpanIds();

  constructor({ url, headers, serviceName, ratio, intervalMs }: OpenTelemetryOptions, logger: Logger) {
    const exporter = new OTLPTraceExporter({
      url,
      headers: { ...headers },
      timeoutMillis: EXPORT_TIMEOUT_MS,
    });
    const byTrace = new TraceIdRatioBasedSampler(ratio);
    this.provider = new TracerProvider({
      resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': RELEASE }),
      // Of a trace that a producer began, too, no more than this part is recorded.
      sampler: new ParentBasedSampler({ root: byTrace, remoteParentSampled: byTrace }),
      idGenerator: this.ids,
      spanProcessors: [
        new BatchSpanProcessor({
          exporter: notingOutages(exporter, logger),
          exportTimeoutMillis: EXPORT_TIMEOUT_MS,
          scheduledDelayMillis: intervalMs,
        }),
      ],
    });
    this.tracer = this.provider.getTracer('hookline', RELEASE);
  }

  request(method: string, requestId: string, traceparent: string | undefined): RequestTrace {
    const attributes = { 'http.request.method': method, 'hookline.request_id': requestId };
    const parent = contextOf(parseTraceparent(traceparent));
    const span = this.tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
    return {
      traceparent: traceparentOf(span),
      end({ operation, status, accountId }) {
        if (operation) span.updateName(operation);
        span.setAttribute('http.response.status_code', status);
        if (accountId) span.setAttribute('hookline.account_id', accountId);
        if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  }

  attempt(request: Omit<AttemptRequest, 'payload'>, targetUrl: string): AttemptTrace | undefined {
    const { traceparent, number, trigger } = request;
    const origin = parseTraceparent(traceparent);
    if (!traceparent || !origin) return undefined;
    const span = this.tracer.startSpan(
      `attempt ${number}`,
      {
        kind: SpanKind.CLIENT,
        attributes: {
          ...attributesOf(request),
          'http.request.method': 'POST',
          'server.address': hostOf(targetUrl) ?? '',
          'hookline.attempt': number,
          'hookline.trigger': trigger,
        },
      },
      contextOf({ ...origin, spanId: deliverySpanId(traceparent, request) }),
    );
    return {
      traceparent: traceparentOf(span),
      end({ status_code, error_code }) {
        if (status_code !== undefined) span.setAttribute('http.response.status_code', status_code);
        const error =
          error_code ?? (status_code !== undefined && status_code >= 300 ? String(status_code) : undefined);
        if (error !== undefined) {
          span.setAttribute('error.type', error);
          span.setStatus({ code: SpanStatusCode.ERROR });
        }
        span.end();
      },
    };
  }

  closed(closings: readonly Closing[]): void {
    for (const { traced, status, attempts, ...about } of closings) {
      const origin = parseTraceparent(traced?.traceparent);
      if (!traced || !origin) continue;
      const span = this.ids.using(deliverySpanId(traced.traceparent, about), () =>
        this.tracer.startSpan(
          `deliver ${about.event_kind}`,
          {
            startTime: new Date(traced.accepted_at),
            attributes: { ...attributesOf(about), 'hookline.status': status, 'hookline.attempts': attempts },
          },
          contextOf(origin),
        ),
      );
      if (status !== 'delivered') span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    }
  }

  /** Posts what is left. */
  async stop(): Promise<void> {
    await this.provider.shutdown().catch(() => {});
  }
}

function attributesOf(
  about: Pick<AttemptRequest, 'account_id' | 'event_id' | 'event_kind' | 'endpoint_id'>,
): Attributes {
  return {
    'hookline.account_id': about.account_id,
    'hookline.event_id': about.event_id,
    'hookline.event_kind': about.event_kind,
    'hookline.endpoint_id': about.endpoint_id,
    'hookline.delivery_id': deliveryId(about),
  };
}

function contextOf(origin: TraceContext | undefined): Context {
  if (!origin) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled } = origin;
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return formatTraceparent({ traceId, spanId, isSampled: (traceFlags & TraceFlags.SAMPLED) !== 0 });
}

/** Random ids, but for a span whose id is known beforehand. */
class SpanIds implements IdGenerator {
  private readonly random = new RandomIdGenerator();
  private next: string | undefined;

  using<T>(spanId: string, start: () => T): T {
    this.next = spanId;
    try {
      return start();
    } finally {
      this.next = undefined;
    }
  }

  generateTraceId(): string {
    return this.random.generateTraceId();
  }

  generateSpanId(): string {
    return this.next ?? this.random.generateSpanId();
  }
}

/** Says once that spans cannot be posted, and once that they can again. The library's own errors may quote what was sent. */
function notingOutages(exporter: SpanExporter, logger: Logger): SpanExporter {
  let isDown = false;
  return {
    export(spans: ReadableSpan[], done) {
      exporter.export(spans, (result) => {
        const failed = result.code !== 0;
        if (failed && !isDown)
          logger.warn('Traces cannot be posted to the OpenTelemetry collector; they are dropped meanwhile.');
        if (!failed && isDown) logger.info('Traces can be posted again.');
        isDown = failed;
        done(failed ? { code: 0 } : result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
