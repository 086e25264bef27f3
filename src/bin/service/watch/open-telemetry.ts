import {
  type Attributes,
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  type ReadableSpan,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import type { Settings } from '../../../config/schema.js';
import { deliveryId } from '../../../domain/basics/delivery-id.js';
import { present } from '../../../domain/basics/objects.js';
import { RELEASE } from '../../../domain/basics/release.js';
import type { AttemptRequest } from '../../../domain/delivery/attempt-request.js';
import { hostOf } from '../../../domain/ledger/summaries.js';
import {
  deliverySpanId,
  formatTraceparent,
  parseTraceparent,
  type TraceContext,
  type TraceHeaders,
} from '../../../domain/trace/trace-context.js';
import type { Tracing } from '../../../domain/trace/tracing.js';

/** For one post of spans, milliseconds. A service that stops waits for the last one. */
const EXPORT_TIMEOUT_MS = 5_000;

/**
 * Records spans and posts them in batches. Spans that cannot be posted are dropped.
 *
 * @param url where they are posted, as OTLP over HTTP with JSON
 */
export function createOpenTelemetry(
  url: string,
  settings: Settings,
  logger: Logger,
): Tracing & { stop(): Promise<void> } {
  // The exporter itself reads 4 MiB of a response at most.
  const headers = { ...settings.OTEL_EXPORTER_OTLP_HEADERS, 'accept-encoding': 'identity' };
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: EXPORT_TIMEOUT_MS });
  const byTrace = new TraceIdRatioBasedSampler(settings.OTEL_TRACES_SAMPLER_ARG);
  const random = new RandomIdGenerator();
  /** Id of the next span, if it is known in advance. */
  let spanId: string | undefined;
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': settings.OTEL_SERVICE_NAME,
      'service.version': RELEASE,
    }),
    // This share also applies to traces that a producer began.
    sampler: new ParentBasedSampler({ root: byTrace, remoteParentSampled: byTrace }),
    idGenerator: {
      generateTraceId: () => random.generateTraceId(),
      generateSpanId: () => spanId ?? random.generateSpanId(),
    },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: notingOutages(exporter, logger),
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
        scheduledDelayMillis: settings.OTEL_BSP_SCHEDULE_DELAY,
      }),
    ],
  });
  const tracer = provider.getTracer('hookline', RELEASE);
  const withSpanId = <T>(id: string, start: () => T): T => {
    spanId = id;
    try {
      return start();
    } finally {
      spanId = undefined;
    }
  };

  return {
    request(method, requestId, sent) {
      const attributes = { 'http.request.method': method, 'hookline.request_id': requestId };
      const parent = contextOf(parseTraceparent(sent.traceparent), sent.tracestate);
      const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
      return {
        headers: headersOf(span),
        end({ operation, status, accountId }) {
          if (operation) span.updateName(operation);
          span.setAttribute('http.response.status_code', status);
          if (accountId) span.setAttribute('hookline.account_id', accountId);
          if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      };
    },

    attempt(request, targetUrl) {
      const { traceparent, tracestate, number, trigger } = request;
      const origin = parseTraceparent(traceparent);
      if (!traceparent || !origin) return undefined;
      const span = tracer.startSpan(
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
        contextOf({ ...origin, spanId: deliverySpanId(traceparent, request) }, tracestate),
      );
      return {
        headers: headersOf(span),
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
    },

    closed(closings) {
      for (const { traced, status, attempts, ...about } of closings) {
        const origin = parseTraceparent(traced?.traceparent);
        if (!traced || !origin) continue;
        const options = {
          startTime: new Date(traced.accepted_at),
          attributes: { ...attributesOf(about), 'hookline.status': status, 'hookline.attempts': attempts },
        };
        const span = withSpanId(deliverySpanId(traced.traceparent, about), () =>
          tracer.startSpan(`deliver ${about.event_kind}`, options, contextOf(origin, traced.tracestate)),
        );
        if (status !== 'delivered') span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      }
    },

    /** Posts what is left. */
    async stop(): Promise<void> {
      await provider.shutdown().catch(() => {});
    },
  };
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

/** @param tracestate of which members are left out that W3C Trace Context does not allow, or all, if it is too long */
function contextOf(origin: TraceContext | undefined, tracestate: string | undefined): Context {
  if (!origin) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled } = origin;
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  const traceState = createTraceState(tracestate);
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, traceState, isRemote: true });
}

function headersOf(span: Span): TraceHeaders {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const traceparent = formatTraceparent({
    traceId,
    spanId,
    isSampled: (traceFlags & TraceFlags.SAMPLED) !== 0,
  });
  return present({ traceparent, tracestate: traceState?.serialize() || undefined });
}

/**
 * Says once that spans cannot be posted, and once that they can again. The library's own errors may quote what was
 * sent.
 */
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
