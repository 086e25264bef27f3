import { freePort, LOOPBACK } from '../../../packages/embedded-servers/src/index.js';
import type { Settings } from '../../config/schema.js';

/**
 * Settings that say where Temporal's SDK serves its own metrics, so that `/metrics` can have them: it has no other way
 * to give them in the text format of Prometheus.
 */
export async function withSdkMetrics(settings: Settings): Promise<Settings> {
  return {
    ...settings,
    HOOKLINE_TEMPORAL_METRICS_ADDRESS:
      settings.HOOKLINE_TEMPORAL_METRICS_ADDRESS ?? `${LOOPBACK}:${await freePort()}`,
  };
}
