import type { Logger } from 'pino';
import type { Settings } from '../../../config/schema.js';
import type { Tracing } from '../../../domain/trace/tracing.js';

/** Traces for an OpenTelemetry collector, if the settings name one. The libraries are loaded only then. */
export async function startTracing(
  settings: Settings,
  logger: Logger,
): Promise<(Tracing & { stop(): Promise<void> }) | undefined> {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: exact, OTEL_EXPORTER_OTLP_ENDPOINT: base } = settings;
  const url = exact ?? (base && `${base.replace(/\/+$/, '')}/v1/traces`);
  if (!url) return undefined;
  const { createOpenTelemetry } = await import('./open-telemetry.js');
  return createOpenTelemetry(url, settings, logger);
}
