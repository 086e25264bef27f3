import { type Receiver, startReceiver } from '../receiver.js';
import { until } from '../until.js';

/** A span as OTLP has it in JSON: https://github.com/open-telemetry/opentelemetry-proto */
export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Record<string, unknown>;
  status: { code?: number };
  service: unknown;
}

interface KeyValue {
  key: string;
  value: Record<string, unknown>;
}

interface ExportRequest {
  resourceSpans: {
    resource: { attributes: KeyValue[] };
    scopeSpans: { spans: (Omit<CollectedSpan, 'attributes' | 'service'> & { attributes: KeyValue[] })[] }[];
  }[];
}

/** A collector of OpenTelemetry: a real HTTP server that takes OTLP. */
export interface TraceCollector {
  url: string;
  receiver: Receiver;
  spans(): CollectedSpan[];
  /** Waits for a span. */
  span(find: (span: CollectedSpan) => boolean): Promise<CollectedSpan>;
}

export async function startTraceCollector(): Promise<TraceCollector> {
  const receiver = await startReceiver({ tls: false });
  const spans = () =>
    receiver.received
      .filter(({ path }) => path === '/v1/traces')
      .flatMap(({ body }) => (JSON.parse(body.toString()) as ExportRequest).resourceSpans)
      .flatMap(({ resource, scopeSpans }) =>
        scopeSpans.flatMap(({ spans }) =>
          spans.map((span) => ({
            ...span,
            attributes: valuesOf(span.attributes),
            service: valuesOf(resource.attributes)['service.name'],
          })),
        ),
      );
  return {
    url: receiver.url,
    receiver,
    spans,
    async span(find) {
      const all = await until(spans, (some) => some.some(find));
      return all.find(find) as CollectedSpan;
    },
  };
}

function valuesOf(attributes: readonly KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
