import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { purchase, steadily } from '../support/load.js';
import { until } from '../support/until.js';
import type { Seen, Tenant } from './tenant.js';

const EVENTS_PER_SECOND = 20;
const HEALTH_PER_SECOND = 20;
/** For an answer, and for the arrival of what was accepted, milliseconds. */
const LIMIT_MS = 15_000;

const { url, key }: Tenant = JSON.parse(process.argv[2] ?? '');
const arrivals = new Map<string, number>();
const receiver = createServer((request, response) => {
  const id = String(request.headers['webhook-id']);
  if (!arrivals.has(id)) arrivals.set(id, performance.now());
  // A new connection for each delivery, as to an endpoint with little traffic.
  request.resume().once('end', () => response.writeHead(200, { connection: 'close' }).end());
});
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));

const pool = new Pool(url, {
  connections: 64,
  pipelining: 1,
  headersTimeout: LIMIT_MS,
  bodyTimeout: LIMIT_MS,
});
let orders = 0;

async function seen(ended: AbortSignal): Promise<Seen> {
  const result: Seen = { acceptMs: [], arriveMs: [], healthMs: [], errors: {} };
  const fail = (what: string) => {
    result.errors[what] = (result.errors[what] ?? 0) + 1;
  };
  const ask = async (method: 'GET' | 'POST', path: string, expected: number, body?: string) => {
    const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) };
    const began = performance.now();
    try {
      const response = await pool.request({ method, path, headers, ...(body !== undefined && { body }) });
      const text = await response.body.text();
      if (response.statusCode === expected) return { text, began, ms: performance.now() - began };
      fail(`${response.statusCode} of ${path}`);
    } catch (error) {
      fail(`${(error as { code?: string }).code ?? 'lost'} of ${path}`);
    }
    return undefined;
  };
  const post = async () => {
    const answer = await ask('POST', '/v18.0/events/purchase', 202, purchase(`order-${++orders}`));
    if (!answer) return;
    result.acceptMs.push(answer.ms);
    const { id } = JSON.parse(answer.text) as { id: string };
    await until(() => arrivals.has(id), LIMIT_MS).catch(() => fail('not delivered in time'));
    const arrived = arrivals.get(id);
    if (arrived !== undefined) result.arriveMs.push(arrived - answer.began);
  };
  const health = async () => {
    const answer = await ask('GET', '/healthz', 200);
    if (answer) result.healthMs.push(answer.ms);
  };
  await Promise.all([steadily(EVENTS_PER_SECOND, ended, post), steadily(HEALTH_PER_SECOND, ended, health)]);
  return result;
}

let time = new AbortController();
process.on('message', async (message: 'begin' | 'end') => {
  if (message === 'end') return time.abort();
  time = new AbortController();
  process.send?.(await seen(time.signal));
});
process.send?.((receiver.address() as AddressInfo).port);
