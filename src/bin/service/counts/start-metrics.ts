import { Histogram, type Registry } from 'prom-client';
import type { StartObserver } from '../../../temporal/write/start-calls.js';

/** What a process measures of the calls that start deliveries. */
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
  return {
    started(deliveries, seconds, isGroup) {
      duration.observe({ kind: isGroup ? 'group' : 'delivery' }, seconds);
      if (isGroup) size.observe(deliveries);
    },
  };
}
