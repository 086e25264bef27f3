import type Router from '@koa/router';
import { atMostEvery } from '../../domain/basics/at-most-every.js';
import type { ApiDependencies, State } from '../http/context.js';

/** Dependencies that show a process's health. */
export type Health = Pick<ApiDependencies, 'readiness' | 'stopping' | 'warnings'>;

/** A response about a process's health. */
export interface HealthAnswer {
  status: number;
  body: object;
}

/**
 * `/healthz`: the process is alive. `/readyz`: it can do its work, and is not to stop. `/metrics`: for Prometheus.
 */
export function healthRoutes(router: Router<State>, { metricsPage, ...health }: ApiDependencies): void {
  const report = healthReports(health);
  for (const path of ['/healthz', '/readyz']) {
    router.get(path, async (ctx) => {
      const answer = await report(path);
      ctx.status = answer?.status ?? 404;
      ctx.body = answer?.body;
    });
  }

  router.get('/metrics', async (ctx) => {
    ctx.type = metricsPage.contentType;
    ctx.body = await metricsPage.text();
  });
}

/**
 * Answers questions about a process's health; `undefined` if the path is not one. The response for `/readyz` is up to a
 * second old, but that of a process that is to stop.
 */
export function healthReports({
  stopping,
  ...health
}: Health): (path: string) => Promise<HealthAnswer | undefined> {
  // Once a second at most: who asks need not prove who they are.
  const ready = atMostEvery(1_000, () => reportReadiness(health));
  return async (path) => {
    if (path === '/healthz') return { status: 200, body: { status: 'ok' } };
    if (path !== '/readyz') return undefined;
    return stopping.aborted ? STOPPING : ready();
  };
}

const STOPPING: HealthAnswer = { status: 503, body: { status: 'stopping' } };

async function reportReadiness({
  readiness,
  warnings,
}: Pick<Health, 'readiness' | 'warnings'>): Promise<HealthAnswer> {
  const checks = await Promise.all(
    Object.entries(readiness).map(async ([name, check]) => {
      const state = await check().then(
        () => 'ok' as const,
        () => 'unavailable' as const,
      );
      return [name, state] as const;
    }),
  );
  const failed = checks.filter(([, state]) => state !== 'ok').map(([name]) => name);
  const isReady = failed.every((name) => isDispensable(name, readiness));
  const status = failed.length === 0 ? 'ok' : isReady ? 'degraded' : 'unavailable';
  const found = warnings();
  return {
    status: isReady ? 200 : 503,
    body: { status, checks: Object.fromEntries(checks), ...(found.length > 0 && { warnings: found }) },
  };
}

/** A process that accepts events, and reads from MongoDB, does without Temporal; a worker does not. */
function isDispensable(name: string, readiness: Health['readiness']): boolean {
  return name === 'temporal' && 'events' in readiness;
}
