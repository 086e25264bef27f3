import { Counter, Registry } from 'prom-client';

/** What the API counts, for Prometheus. No label holds anything of a request but its policy. */
export interface Metrics {
  registry: Registry;
  rateLimited: Counter<'policy'>;
  rateLimitStoreFailures: Counter;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  return {
    registry,
    rateLimited: new Counter({
      name: 'hookline_rate_limited_requests_total',
      help: 'Requests refused because a rate limit was exceeded',
      labelNames: ['policy'],
      registers: [registry],
    }),
    rateLimitStoreFailures: new Counter({
      name: 'hookline_rate_limit_store_failures_total',
      help: 'Times that a process could not share what it counted for the rate limits, and went on with what it knew',
      registers: [registry],
    }),
  };
}
