import { Counter, Histogram, type Registry } from 'prom-client';
import type { VisibilityObserver } from '../../../temporal/server/visibility-pace.js';
import type { StartObserver } from '../../../temporal/write/start-calls.js';

/** Metrics of the calls that start deliveries. */
export function createStartMetrics(registry: Registry): StartObserver {
  const registers = [registry];
  const duration = new Histogram({
    name: 'hookline_start_call_duration_seconds',
    help: 'Time of a call to Temporal that starts one delivery, or a group',
    labelNames: ['kind'],
    buckets: [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const size = new Histogram({
    name: 'hookline_group_size',
    help: 'Deliveries in a group that was started',
    buckets: [2, 5, 10, 20, 30, 40, 50, 60, 90, 120],
    registers,
  });
  for (const kind of ['delivery', 'group']) duration.zero({ kind });
  return {
    started(deliveries, seconds, isGroup) {
      duration.observe({ kind: isGroup ? 'group' : 'delivery' }, seconds);
      if (isGroup) size.observe(deliveries);
    },
  };
}

/** Metrics of a process's calls to Temporal that list or count. */
export function createVisibilityMetrics(registry: Registry): VisibilityObserver {
  const registers = [registry];
  const wait = new Histogram({
    name: 'hookline_visibility_wait_seconds',
    help: 'How long calls to Temporal that list or count waited for their turn',
    buckets: [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const refused = new Counter({
    name: 'hookline_visibility_refused_total',
    help: 'Calls to Temporal that list or count which waited too long, and were not made',
    registers,
  });
  return {
    waited: (seconds) => wait.observe(seconds),
    refused: () => refused.inc(),
  };
}
