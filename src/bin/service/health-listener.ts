import type { RequestListener } from 'node:http';
import { reportHealth } from '../../api/routes/health.js';
import type { Readiness } from './readiness.js';

/** What a worker answers over HTTP: `/healthz` and `/readyz`, and nothing else. */
export function healthListener(readiness: Readiness): RequestListener {
  return async (request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    const { status, body } = (await reportHealth(path, readiness)) ?? NOT_FOUND;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
}

const NOT_FOUND = { status: 404, body: { status: 'This is a worker. It answers /healthz and /readyz.' } };
