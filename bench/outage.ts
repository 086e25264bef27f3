import { saturate, sendSteadily, warmUp } from './support/load.js';
import { startReceiver } from './support/receiver.js';
import { percentile } from './support/statistics.js';
import { type BenchServers, startBenchSystem } from './support/system.js';
import { until } from './support/until.js';
import { findProcess, usageOf } from './support/usage.js';

/** What an endpoint that fails costs, beside what a healthy one costs in the same run. */
export interface Outage {
  /** Events accepted each second: to a healthy endpoint, and to the failing one. */
  accepted: { healthy: number; failing: number };
  /** From post to arrival at a healthy endpoint, alone and beside the failing one, milliseconds. */
  alone: { p50: number; p99: number };
  beside: { p50: number; p99: number };
  /** From the endpoint's return until that share of its events had arrived, milliseconds. */
  returnedMs: { p95: number; all: number };
  /** Processor time of service and Temporal for each event, from its post to its delivery, milliseconds. */
  cpu: { healthy: number; failing: number };
  repeated: number;
}

const CONCURRENCY = 32;
/** To the healthy endpoint, all the time. */
const STEADY_PER_SECOND = 20;
const STEADY_SECONDS = 10;
/** From the last accepted event to the endpoint's return. Milliseconds. */
const DOWN_MS = 20_000;
const LIMIT_MS = 600_000;

/**
 * An endpoint fails while events for it come as fast as they are accepted, and returns; a healthy one beside it gets events at a steady
 * rate meanwhile.
 *
 * @param delayMs how long the failing endpoint takes for an answer
 */
export async function measureOutage(servers: BenchServers, events: number, delayMs = 0): Promise<Outage> {
  let status = 200;
  let wait = 0;
  const good = await startReceiver();
  const bad = await startReceiver(
    undefined,
    () => wait,
    () => status,
  );
  const system = await startBenchSystem(servers);
  const temporalPid = await findProcess('start-dev', servers.temporalAddress.split(':')[1] ?? '');
  const cpu = async () =>
    ((await usageOf(system.pid))?.cpuMs ?? 0) + ((await usageOf(temporalPid ?? 0))?.cpuMs ?? 0);
  try {
    await system.register(`${bad.url}/`);
    const steady = await system.newAccount();
    await steady.register(`${good.url}/`);
    const travel = async (seconds: number) => {
      const sent = await sendSteadily(steady, STEADY_PER_SECOND, seconds);
      const arrivedAt = (id: string) => good.arrivals.get(`${id} /`);
      await until(() => sent.every(({ id }) => arrivedAt(id) !== undefined), LIMIT_MS);
      const times = sent.map(({ id, sentAt }) => (arrivedAt(id) ?? Number.NaN) - sentAt);
      return { p50: percentile(times, 50), p99: percentile(times, 99) };
    };
    const accept = async () => {
      const began = performance.now();
      const sent = await saturate(system, events, CONCURRENCY);
      return { sent, perSecond: events / ((performance.now() - began) / 1_000) };
    };
    const arrived = (sent: readonly { id: string }[]) =>
      sent.filter(({ id }) => bad.accepted.has(`${id} /`)).length;

    await warmUp(system, CONCURRENCY);
    await travel(2);
    const alone = await travel(STEADY_SECONDS);

    const beforeHealthy = await cpu();
    const healthy = await accept();
    await until(() => arrived(healthy.sent) === events, LIMIT_MS);
    const healthyCpu = (await cpu()) - beforeHealthy;

    status = 503;
    wait = delayMs;
    bad.arrivals.clear();
    const before = await cpu();
    const [failing, beside] = await Promise.all([accept(), travel(STEADY_SECONDS)]);
    await new Promise((resolve) => setTimeout(resolve, DOWN_MS));
    const attempts = bad.count;
    status = 200;
    wait = 0;
    const returnedAt = performance.now();
    let p95 = 0;
    await until(() => {
      const there = arrived(failing.sent);
      if (p95 === 0 && there >= events * 0.95) p95 = performance.now() - returnedAt;
      return there === events;
    }, LIMIT_MS);
    const all = performance.now() - returnedAt;
    const steadyCpu = (healthyCpu / events) * STEADY_PER_SECOND * STEADY_SECONDS;
    return {
      accepted: { healthy: healthy.perSecond, failing: failing.perSecond },
      alone,
      beside,
      returnedMs: { p95, all },
      cpu: { healthy: healthyCpu / events, failing: ((await cpu()) - before - steadyCpu) / events },
      repeated: bad.count - attempts - events,
    };
  } finally {
    await system.stop();
    await good.close();
    await bad.close();
  }
}
