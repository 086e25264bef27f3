import { saturate, warmUp } from './support/load.js';
import { startReceiver } from './support/receiver.js';
import { percentile } from './support/statistics.js';
import { type BenchServers, type BenchSystem, startBenchSystem } from './support/system.js';
import { until } from './support/until.js';
import { usageOf } from './support/usage.js';

/** A backlog at one endpoint, from its first event to its last delivery. */
export interface ParkedBacklog {
  /** Events accepted each second: a few to the endpoint while it was healthy, and all while it failed. */
  accepted: { healthy: number; failing: number };
  /** p50 and p95 while all wait, milliseconds: a page of the list of what is parked, and one delivery. */
  list: Times;
  get: Times;
  /** From the endpoint's first success until all had arrived, milliseconds. */
  drainedMs: number;
  /** The most that the service held, bytes. */
  peak: number;
  repeated: number;
}

interface Times {
  p50: number;
  p95: number;
}

const CONCURRENCY = 32;
const HEALTHY_EVENTS = 5_000;
const READS = 50;
const LIMIT_MS = 3_600_000;

/** An endpoint fails while very many events come for it, and returns. */
export async function measureParked(servers: BenchServers, events: number): Promise<ParkedBacklog> {
  let status = 200;
  const receiver = await startReceiver(undefined, 0, () => status);
  const system = await startBenchSystem(servers);
  let peak = 0;
  const watch = setInterval(async () => {
    peak = Math.max(peak, (await usageOf(system.pid))?.residentBytes ?? 0);
  }, 500);
  const accept = async (count: number) => {
    const began = performance.now();
    const sent = await saturate(system, count, CONCURRENCY);
    return { sent, perSecond: count / ((performance.now() - began) / 1_000) };
  };
  // Counted: to look for each of them every few milliseconds would keep a processor busy.
  const arrived = (before: number) => receiver.accepted.size - before;
  try {
    await system.register(`${receiver.url}/`);
    const warmed = await warmUp(system, CONCURRENCY);
    const healthy = await accept(HEALTHY_EVENTS);
    await until(() => arrived(warmed) === HEALTHY_EVENTS, LIMIT_MS);

    status = 503;
    const failing = await accept(events);
    const list = await timesOf(system, () => 'deliveries?status=parked');
    const get = await timesOf(system, (read) => {
      const id = failing.sent.at(-1 - read * Math.floor(events / READS))?.id;
      return `events/${id}`;
    });
    const attempts = receiver.count;
    const before = receiver.accepted.size;
    status = 200;
    await until(() => arrived(before) > 0, LIMIT_MS);
    const returnedAt = performance.now();
    await until(() => arrived(before) === events, LIMIT_MS);
    return {
      accepted: { healthy: healthy.perSecond, failing: failing.perSecond },
      list,
      get,
      drainedMs: performance.now() - returnedAt,
      peak,
      repeated: receiver.count - attempts - events,
    };
  } finally {
    clearInterval(watch);
    await system.stop();
    await receiver.close();
  }
}

/** Reads one after another. @param path after the version, of the read with that number */
async function timesOf(system: BenchSystem, path: (read: number) => string): Promise<Times> {
  const times: number[] = [];
  for (let read = 0; read < READS; read += 1) {
    const began = performance.now();
    const response = await fetch(`${system.url}/v18.0/${path(read)}`, {
      headers: { authorization: `Bearer ${system.key}` },
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path(read)} answered ${response.status}: ${text}`);
    times.push(performance.now() - began);
  }
  return { p50: percentile(times, 50), p95: percentile(times, 95) };
}
