import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { ACCOUNT_SCOPES } from '../src/domain/api-key.js';
import { connectDatabase } from '../src/models/database.js';
import { startServiceProcess } from './service-process.js';
import { startServers } from './system.js';
import { usageOf } from './usage.js';

/**
 * `npm run bench:me`: `GET /v18.0/me` beside a bare Koa route that answers the same JSON, in the same run, each in a process of its own.
 * Token check and rate limits are on. The two take turns, so that whatever else the machine does meets both.
 */
const PATH = '/v18.0/me?fields=id,followers_count';
const CONNECTIONS = 16;
const ROUNDS = 5;
const ROUND_MS = 4_000;

interface Measured {
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
}

const say = (line = '') => process.stdout.write(`${line}\n`);

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

function summarize(latencies: number[], seconds: number): Measured {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
  return { perSecond: sorted.length / seconds, p50: at(0.5), p99: at(0.99) };
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

const servers = await startServers(say);
const environment = servers.environment({
  HOOKLINE_RATE_LIMIT_TOKEN: '100000000/1m,100000000/1h',
  HOOKLINE_RATE_LIMIT_STORE: 'memory',
});
const database = await connectDatabase(environment['MONGODB_URI'] ?? '');
const account = await database.accounts.create('bench');
const { key } = await database.apiKeys.create(account.id, 'bench', ACCOUNT_SCOPES);
await database.close();
const service = await startServiceProcess(environment);
const url = service.url + PATH;
const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
const bare = await startBare(await answer.text());
try {
  say(`limits on: ${answer.headers.get('ratelimit-policy')}`);
  const latencies = { me: [] as number[], bare: [] as number[] };
  await load(url, key, 1_000);
  await load(bare.url, key, 1_000);
  const cpuMs = { me: 0, bare: 0 };
  const sides = { me: { url, pid: service.pid }, bare };
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of ['me', 'bare'] as const) {
      const side = sides[name];
      const before = await usageOf(side.pid);
      latencies[name].push(...(await load(side.url, key, ROUND_MS)));
      const after = await usageOf(side.pid);
      cpuMs[name] += (after?.cpuMs ?? 0) - (before?.cpuMs ?? 0);
    }
  }
  const seconds = (ROUNDS * ROUND_MS) / 1_000;
  const show = (title: string, name: 'me' | 'bare') => {
    const { perSecond, p50, p99 } = summarize(latencies[name], seconds);
    const cpu = (1_000 * cpuMs[name]) / latencies[name].length;
    say(
      `${title} ${perSecond.toFixed(0).padStart(6)}/s  p50 ${p50.toFixed(2)} ms  p99 ${p99.toFixed(2)} ms  CPU ${cpu.toFixed(0)} µs each`,
    );
    return perSecond;
  };
  const me = show('GET /v18.0/me ', 'me');
  const koa = show('bare Koa route', 'bare');
  say(`${(me / koa).toFixed(2)} x the bare route`);
} finally {
  await bare.stop();
  await service.stop();
  await servers.stop();
}
