import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { WARM_UP_MS } from './support/load.js';
import { percentile } from './support/statistics.js';
import { type BenchServers, startBenchSystem } from './support/system.js';
import { usageOf } from './support/usage.js';

const PATH = '/v18.0/me?fields=id,followers_count';
const CONNECTIONS = 16;
const ROUNDS = 5;
const ROUND_MS = 4_000;

/** How a route answers under load. */
export interface RouteSpeed {
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Processor time of its process for each request, microseconds. */
  cpuMicroseconds: number;
}

/** Sends requests over some connections at once, each as soon as the one before is answered. */
async function load(url: string, token: string, ms: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const latencies: number[] = [];
  const until = performance.now() + ms;
  const worker = async () => {
    while (performance.now() < until) {
      const began = performance.now();
      const status = await get(agent, url, token);
      if (status !== 200) throw new Error(`${url} answered ${status}`);
      latencies.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  agent.destroy();
  return latencies;
}

function get(agent: Agent, url: string, token: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
    call.once('error', reject);
    call.end();
  });
}

/** A Koa application of one middleware. */
async function startBare(body: string): Promise<{ url: string; pid: number; stop(): Promise<void> }> {
  const script = `
    const { default: Koa } = await import('koa');
    const app = new Koa();
    const body = JSON.parse(process.argv[1]);
    app.use((ctx) => { ctx.body = body; });
    const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, body], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = await once(createInterface({ input: child.stdout }), 'line');
  return {
    url: `http://127.0.0.1:${port}${PATH}`,
    pid: child.pid ?? 0,
    async stop() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

/**
 * Measures `GET /v18.0/me` beside a bare Koa route that answers the same JSON, each in a process of its own. Token
 * check and rate limits are on. The two take turns, so that whatever else the machine does meets both.
 */
export async function measureMe(servers: BenchServers): Promise<{ me: RouteSpeed; bare: RouteSpeed }> {
  const system = await startBenchSystem(servers, {
    HOOKLINE_RATE_LIMIT_TOKEN: '100000000/1m,100000000/1h',
  });
  const url = system.url + PATH;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${system.key}` } });
  if (!answer.headers.has('ratelimit-policy')) throw new Error('the limits are off');
  const bare = await startBare(await answer.text());
  const sides = {
    me: { url, pid: system.pid, latencies: [] as number[], cpuMs: 0 },
    bare: { url: bare.url, pid: bare.pid, latencies: [] as number[], cpuMs: 0 },
  };
  try {
    for (const side of Object.values(sides)) await load(side.url, system.key, WARM_UP_MS);
    for (let round = 0; round < ROUNDS; round++) {
      for (const side of Object.values(sides)) {
        const before = await usageOf(side.pid);
        side.latencies.push(...(await load(side.url, system.key, ROUND_MS)));
        const after = await usageOf(side.pid);
        side.cpuMs += (after?.cpuMs ?? 0) - (before?.cpuMs ?? 0);
      }
    }
    return { me: summarize(sides.me), bare: summarize(sides.bare) };
  } finally {
    await bare.stop();
    await system.stop();
  }
}

function summarize({ latencies, cpuMs }: { latencies: readonly number[]; cpuMs: number }): RouteSpeed {
  return {
    perSecond: latencies.length / ((ROUNDS * ROUND_MS) / 1_000),
    p50: percentile(latencies, 50),
    p99: percentile(latencies, 99),
    cpuMicroseconds: (1_000 * cpuMs) / latencies.length,
  };
}
