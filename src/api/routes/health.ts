import type Router from '@koa/router';
import type { ApiDependencies, State } from '../http/context.js';

/** `/healthz`: the process is alive. `/readyz`: everything that it needs for its work is reachable. `/metrics`: for Prometheus. */
export function healthRoutes(router: Router<State>, { readiness, metricsPage }: ApiDependencies): void {
  for (const path of ['/healthz', '/readyz']) {
    router.get(path, async (ctx) => {
      const report = await reportHealth(path, readiness);
      ctx.status = report?.status ?? 404;
      ctx.body = report?.body;
    });
  }

  router.get('/metrics', async (ctx) => {
    ctx.type = metricsPage.contentType;
    ctx.body = await metricsPage.text();
  });
}

/** The answer to a question about a process's health; `undefined` if the path is not one. */
export async function reportHealth(
  path: string,
  readiness: ApiDependencies['readiness'],
): Promise<{ status: number; body: object } | undefined> {
  if (path === '/healthz') return { status: 200, body: { status: 'ok' } };
  if (path !== '/readyz') return undefined;
  const checks = await Promise.all(
    Object.entries(readiness).map(async ([name, check]) => {
      const state = await check().then(
        () => 'ok' as const,
        () => 'unavailable' as const,
      );
      return [name, state] as const;
    }),
  );
  const isReady = checks.every(([, state]) => state === 'ok');
  const status = isReady ? 'ok' : 'unavailable';
  return { status: isReady ? 200 : 503, body: { status, checks: Object.fromEntries(checks) } };
}
