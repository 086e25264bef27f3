import type { RequestListener } from 'node:http';
import { type Health, healthReports } from '../../api/routes/health.js';
import type { MetricsPage } from './counts/metrics-page.js';

/** HTTP server of a worker: `/healthz`, `/readyz` and `/metrics`, and nothing else. */
export function healthListener(health: Health, metrics: MetricsPage): RequestListener {
  const report = healthReports(health);
  return async (request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    if (path === '/metrics') {
      const text = await metrics.text();
      response.writeHead(200, { 'content-type': metrics.contentType }).end(text);
      return;
    }
    const { status, body } = (await report(path)) ?? NOT_FOUND;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
}

const NOT_FOUND = {
  status: 404,
  body: { status: 'This is a worker. It serves /healthz, /readyz and /metrics.' },
};
