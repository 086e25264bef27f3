import type Router from '@koa/router';
import type { ApiDependencies, State } from '../http/context.js';

/** `/healthz`: the process is alive. `/readyz`: everything that accepting an event needs is reachable. `/metrics`: for Prometheus. */
export function healthRoutes(router: Router<State>, { readiness, metrics }: ApiDependencies): void {
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });

  router.get('/readyz', async (ctx) => {
    const checks = await Promise.all(
      Object.entries(readiness).map(async ([name, check]) => {
        const ok = await check().then(
          () => true,
          () => false,
        );
        return [name, ok ? 'ok' : 'unavailable'] as const;
      }),
    );
    const ready = checks.every(([, state]) => state === 'ok');
    ctx.status = ready ? 200 : 503;
    ctx.body = { status: ready ? 'ok' : 'unavailable', checks: Object.fromEntries(checks) };
  });

  router.get('/metrics', async (ctx) => {
    ctx.type = metrics.registry.contentType;
    ctx.body = await metrics.registry.metrics();
  });
}
