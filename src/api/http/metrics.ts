import { Counter, Histogram, type Registry } from 'prom-client';
import { PROBLEMS } from '../../domain/http/problems.js';

export type Metrics = ReturnType<typeof createMetrics>;

/** Metrics of the API, for Prometheus. No label holds anything of a request but its operation, status and policy. */
export function createMetrics(registry: Registry) {
  const registers = [registry];
  return {
    rateLimited: new Counter({
      name: 'hookline_rate_limited_requests_total',
      help: 'Requests refused because a rate limit was exceeded',
      labelNames: ['policy'],
      registers,
    }),
    rateLimitStoreFailures: new Counter({
      name: 'hookline_rate_limit_store_failures_total',
      help: 'Times that a process could not share what it counted for the rate limits, and went on with what it knew',
      registers,
    }),
    requests: new Counter({
      name: 'hookline_http_requests_total',
      help: 'Responses sent, by operation of the OpenAPI document and status',
      labelNames: ['operation', 'status'],
      registers,
    }),
    requestDuration: new Histogram({
      name: 'hookline_http_request_duration_seconds',
      help: 'Time from a request to its response',
      labelNames: ['operation'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
  };
}

/** Statuses of requests, to an operation or to none, that fail through the service's fault. */
const AT_FAULT = ['500', '503'];

/**
 * Starts the counts of operations with 0: of each its successes and what Hookline would be at fault for, and every
 * status there is. An operation with every status would be a thousand series, most of which stay at 0.
 */
export function countFromZero(
  { requests }: Metrics,
  operations: readonly { id: string; responses: object }[],
): void {
  for (const { id, responses } of operations)
    for (const status of [...Object.keys(responses), ...AT_FAULT]) requests.inc({ operation: id, status }, 0);
  for (const [status] of Object.values(PROBLEMS)) requests.inc({ operation: 'none', status }, 0);
}
