import { deepEqual, equal } from 'node:assert/strict';
import { Registry } from 'prom-client';
import { createDeliveryMetrics } from '../../../src/bin/service/counts/attempt-metrics.js';
import { createStartMetrics, createVisibilityMetrics } from '../../../src/bin/service/counts/call-metrics.js';
import { ATTEMPT_ERROR_CODES } from '../../../src/domain/attempt/attempt.js';
import { CLOSED_STATUSES } from '../../../src/domain/delivery/delivery.js';

describe('Metrics of deliveries, attempts and calls', () => {
  it('are there before anything has happened, with 0 for each value of their labels that is known', async () => {
    const registry = new Registry();
    createDeliveryMetrics(registry);
    createStartMetrics(registry);
    createVisibilityMetrics(registry);
    const seen = new Map<string, Set<unknown>>();
    for (const { name, values } of await registry.getMetricsAsJSON()) {
      for (const { value, labels } of values) {
        equal(value, 0, name);
        for (const [label, one] of Object.entries(labels)) {
          if (label === 'le') continue;
          const key = `${name.replace(/^hookline_/, '')} ${label}`;
          seen.set(key, (seen.get(key) ?? new Set()).add(one));
        }
      }
    }
    const outcomes = ['blocked', 'delivered', 'failed', 'gone'];
    deepEqual(Object.fromEntries([...seen].map(([key, values]) => [key, [...values].sort()])), {
      'deliveries_closed_total status': [...CLOSED_STATUSES].sort(),
      'attempts_total outcome': outcomes,
      'attempts_total response': ['2xx', '3xx', '4xx', '5xx', ...ATTEMPT_ERROR_CODES].sort(),
      'attempts_not_made_total reason': [
        ...[
          'busy',
          'deferred',
          'deleted',
          'disabled',
          'erased',
          'failing',
          'out_of_order',
          'paused',
          'pending',
        ],
      ],
      'attempt_duration_seconds outcome': outcomes,
      'attempt_duration_seconds lane': ['direct', 'isolated'],
      'publish_to_arrival_seconds attempt': ['first', 'later'],
      'start_call_duration_seconds kind': ['delivery', 'group'],
    });
  });
});
