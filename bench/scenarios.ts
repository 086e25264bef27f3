import { setTimeout as delay } from 'node:timers/promises';
import { saturate, sendSteadily, WARM_UP_MS, warmUp } from './support/load.js';
import { startReceiver } from './support/receiver.js';
import { percentile } from './support/statistics.js';
import { type BenchAccount, type BenchServers, startBenchSystem } from './support/system.js';
import { until } from './support/until.js';
import { findProcess, usageOf } from './support/usage.js';

/** The time limit for deliveries to arrive; after it, the run has failed. */
const STALLED_MS = 30_000;

/** A saturated run. */
export interface Saturated {
  /** Deliveries that arrived per second, from the first request to the last arrival. */
  perSecond: number;
  answerP50Ms: number;
  answerP99Ms: number;
  /** Processor time per delivery, milliseconds. */
  cpu: { service: number; temporal: number } | undefined;
  /** Resident memory of the service at the end, bytes. */
  residentBytes: number | undefined;
}

/** Sends events as fast as they are answered, and waits until all have arrived. */
export async function measureSaturated(
  servers: BenchServers,
  options: {
    tls: boolean;
    events?: number;
    concurrency?: number;
    overrides?: Record<string, string>;
    script?: string;
  },
): Promise<Saturated> {
  const { events = 1_000, concurrency = 32, script } = options;
  // The plain way bundles workflows of its own there.
  const overrides = { ...options.overrides, BENCH_FOLDER: servers.folder };
  const receiver = await startReceiver(options.tls ? servers.authority : undefined);
  const system = await startBenchSystem(servers, overrides, script);
  const temporalPid = await findProcess('start-dev', servers.temporalAddress.split(':')[1] ?? '');
  const usage = async () => [await usageOf(system.pid), await usageOf(temporalPid ?? 0)] as const;
  try {
    await system.register(`${receiver.url}/`);
    await untilArrived(receiver, await warmUp(system, concurrency));
    receiver.arrivals.clear();

    const before = await usage();
    const began = performance.now();
    const sent = await saturate(system, events, concurrency);
    await untilArrived(receiver, events);
    const last = Math.max(...receiver.arrivals.values());
    const after = await usage();
    const spent = (place: 0 | 1) => ((after[place]?.cpuMs ?? 0) - (before[place]?.cpuMs ?? 0)) / events;
    const answers = sent.map(({ sentAt, answeredAt }) => answeredAt - sentAt);
    return {
      perSecond: events / ((last - began) / 1_000),
      answerP50Ms: percentile(answers, 50),
      answerP99Ms: percentile(answers, 99),
      cpu: after[0] && { service: spent(0), temporal: spent(1) },
      residentBytes: after[0]?.residentBytes,
    };
  } finally {
    await system.stop();
    await receiver.close();
  }
}

/** Time from sending an event to its arrival, milliseconds. */
export interface Latency {
  p50: number;
  p95: number;
  p99: number;
  answerP50: number;
}

/** Sends events at a steady rate and measures how long each one travels. */
export async function measureLatency(
  servers: BenchServers,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<Latency> {
  const receiver = await startReceiver(servers.authority);
  const system = await startBenchSystem(servers);
  try {
    await system.register(`${receiver.url}/`);
    await untilArrived(receiver, await warmUp(system, 4));
    receiver.arrivals.clear();
    const sent = await sendSteadily(system, perSecond, seconds);
    await untilArrived(receiver, perSecond * seconds);
    const travelled = sent.map(({ id, sentAt }) => (receiver.arrivals.get(`${id} /`) ?? Number.NaN) - sentAt);
    const answered = sent.map(({ sentAt, answeredAt }) => answeredAt - sentAt);
    return {
      p50: percentile(travelled, 50),
      p95: percentile(travelled, 95),
      p99: percentile(travelled, 99),
      answerP50: percentile(answered, 50),
    };
  } finally {
    await system.stop();
    await receiver.close();
  }
}

/** Fan-outs that are measured. */
const FAN_OUTS = 5;

/**
 * Sends one event to many endpoints: deliveries per second, from the request to the last arrival; the median of some,
 * when all is warm.
 */
export async function measureFanOut(servers: BenchServers, endpoints: number): Promise<number> {
  const receiver = await startReceiver();
  const system = await startBenchSystem(servers);
  try {
    for (let index = 0; index < endpoints; index += 1) await system.register(`${receiver.url}/${index}`);
    const fanOut = async (): Promise<number> => {
      receiver.arrivals.clear();
      const began = performance.now();
      await saturate(system, 1, 1);
      await untilArrived(receiver, endpoints);
      const last = Math.max(...receiver.arrivals.values());
      return endpoints / ((last - began) / 1_000);
    };
    const warmAt = performance.now() + WARM_UP_MS;
    while (performance.now() < warmAt) await fanOut();
    const rates: number[] = [];
    while (rates.length < FAN_OUTS) rates.push(await fanOut());
    return percentile(rates, 50);
  } finally {
    await system.stop();
    await receiver.close();
  }
}

/** Effect of bad endpoints on good ones: time to arrival at good ones, 99th percentile, milliseconds. */
export interface Isolation {
  alone: number;
  besideBad: number;
}

/** Accounts of the run for isolation; a third of them has an endpoint that never answers in time. */
const ACCOUNTS = 12;
const RATE_EACH = 4;

/**
 * Sends events for many accounts at a steady rate, first with good endpoints alone, then beside a third that hang for
 * the whole limit.
 */
export async function measureIsolation(servers: BenchServers, seconds: number): Promise<Isolation> {
  const good = await startReceiver(servers.authority);
  const bad = await startReceiver(servers.authority, HANGING_MS);
  const system = await startBenchSystem(servers);
  try {
    const accounts: BenchAccount[] = [];
    for (let index = 0; index < ACCOUNTS; index += 1) {
      const account = await system.newAccount();
      await account.register(`${index % 3 === 0 ? bad.url : good.url}/`);
      accounts.push(account);
    }
    const healthy = accounts.filter((_, index) => index % 3 !== 0);
    await Promise.all(healthy.map((account) => warmUp(account, 1)));
    const p99 = async (sending: readonly BenchAccount[]): Promise<number> => {
      const sent = await Promise.all(sending.map((account) => sendSteadily(account, RATE_EACH, seconds)));
      const wanted = sent.flatMap((events, index) =>
        healthy.includes(sending[index] as BenchAccount) ? events : [],
      );
      const arrivedAt = (id: string) => good.arrivals.get(`${id} /`);
      await until(() => wanted.every(({ id }) => arrivedAt(id) !== undefined));
      return percentile(
        wanted.map(({ id, sentAt }) => (arrivedAt(id) ?? Number.NaN) - sentAt),
        99,
      );
    };
    await p99(healthy);
    const alone = await p99(healthy);
    await p99(accounts);
    const besideBad = await p99(accounts);
    return { alone, besideBad };
  } finally {
    await system.stop();
    await good.close();
    await bad.close();
  }
}

/** Longer than an attempt may last. */
const HANGING_MS = 30_000;

async function untilArrived(receiver: { arrivals: Map<string, number> }, count: number): Promise<void> {
  let seen = 0;
  let since = performance.now();
  while (receiver.arrivals.size < count) {
    await delay(5);
    if (receiver.arrivals.size > seen) {
      seen = receiver.arrivals.size;
      since = performance.now();
    }
    if (performance.now() - since > STALLED_MS) throw new Error(`only ${seen} of ${count} arrived`);
  }
}
