import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { requireServers } from '../src/bin/process/server-settings.js';
import { loadSettings } from '../src/config/load.js';
import {
  connectTemporal,
  installRuntime,
  type TemporalConnection,
} from '../src/temporal/server/connection.js';
import { freeze } from './freeze.js';
import { killOnce } from './kills.js';
import { measureLog } from './log/append.js';
import { measureMemory } from './memory.js';
import { measureOutage } from './outage/outage.js';
import type { Travel } from './outage/travel.js';
import { measureParked } from './parked.js';
import { measureSilentDns } from './silent-dns.js';
import { saturate } from './support/load.js';
import { startReceiver } from './support/receiver.js';
import { countDeliveries, countRecorded } from './support/recorded.js';
import { median, percentile } from './support/statistics.js';
import { type BenchServers, restartBenchSystem, startBenchSystem, startServers } from './support/system.js';
import { until } from './support/until.js';
import { usageOf } from './support/usage.js';

const say = (line = '') => process.stdout.write(`${line}\n`);
const CONCURRENCY = 32;
/** The time limit for a condition of the drill; after it, something is wrong. Milliseconds. */
const LIMIT_MS = 300_000;
const WAITING_LIMIT_MS = 1_800_000;
/** To count thousands of executions keeps Temporal busy. */
const COUNT_EVERY_MS = 250;

/** Kills the service in the middle of a saturated run, starts it again, and counts what arrived. */
async function crash(servers: BenchServers, events: number): Promise<void> {
  const receiver = await startReceiver();
  const system = await startBenchSystem(servers);
  await system.register(`${receiver.url}/`);
  const acknowledged: string[] = [];
  const killAfter = events / 2;
  let killed: Promise<void> | undefined;
  const sending = saturate(system, events, CONCURRENCY, ({ id }) => {
    acknowledged.push(id);
    if (acknowledged.length === killAfter) killed = system.kill();
  });
  await sending.catch(() => {});
  await killed;
  const atCrash = receiver.count;
  const restarted = await restartBenchSystem(system);
  const missing = () => acknowledged.filter((id) => !receiver.arrivals.has(`${id} /`)).length;
  await until(() => missing() === 0, LIMIT_MS);
  await untilNoneOpen(servers, system.taskQueue);
  say(
    `crash: killed after ${killAfter} of ${events} were acknowledged, ${atCrash} had arrived; started again.`,
  );
  say(
    `       ${acknowledged.length} acknowledged, ${missing()} of them lost, 0 stuck, ${receiver.count - receiver.arrivals.size} repeated.`,
  );
  await restarted.stop();
  await receiver.close();
}

/**
 * Events to each endpoint of the drill: with fewer failures than make an endpoint back off, every delivery waits for
 * its own retry.
 */
const EVENTS_EACH = 5;
/** Between the attempts: long enough for all of them to wait, a minute and so many seconds for each. */
const SECONDS_EACH = 0.006;
/** Waits are lengthened by up to this factor. */
const LONGEST_WAIT = 1.1;

/** Has many deliveries wait for a retry, kills the service, starts it again, and sees all of them delivered. */
async function waiting(servers: BenchServers, deliveries: number): Promise<void> {
  let status = 500;
  const receiver = await startReceiver(undefined, 0, () => status);
  const wait = Math.ceil(60 + SECONDS_EACH * deliveries);
  const system = await startBenchSystem(servers, { HOOKLINE_RETRY_SCHEDULE: `${wait}s` });
  const endpoints = deliveries / EVENTS_EACH;
  await system.registerMany(Array.from({ length: endpoints }, (_, index) => `${receiver.url}/${index}`));
  const began = performance.now();
  for (let sent = 1; sent <= EVENTS_EACH; sent += 1) {
    await saturate(system, 1, 1);
    await until(() => receiver.count >= sent * endpoints, WAITING_LIMIT_MS);
    say(`waiting: ${receiver.count} of ${deliveries} attempted after ${seconds(began)}.`);
  }
  const waiting = () => countDeliveries(system.environment['MONGODB_URI'] ?? '', system.id, 'retrying');
  await until(async () => (await waiting()) === deliveries, WAITING_LIMIT_MS, COUNT_EVERY_MS);
  const before = await usageOf(system.pid);
  const attempts = receiver.count;
  say(
    `         ${deliveries} deliveries wait for a retry after ${seconds(began)}, ${attempts - deliveries} attempts repeated; the service holds ${megabytes(before)}.`,
  );
  const allDueAt = performance.now() + wait * LONGEST_WAIT * 1_000;
  await system.kill();
  status = 200;
  await delay(allDueAt - performance.now());
  const restartedAt = performance.now();
  const restarted = await restartBenchSystem(system);
  let peak = 0;
  const watch = setInterval(async () => {
    peak = Math.max(peak, (await usageOf(restarted.pid))?.residentBytes ?? 0);
  }, 500);
  await until(() => receiver.count >= attempts + deliveries, WAITING_LIMIT_MS);
  const delivered = seconds(restartedAt);
  await untilNoneOpen(servers, system.taskQueue);
  clearInterval(watch);
  say(
    `         killed, and started again when all were due: all delivered after ${delivered}, all told after ${seconds(restartedAt)}, ${receiver.count - attempts - deliveries} repeated; at most ${megabytes({ residentBytes: peak })}.`,
  );
  await restarted.stop();
  await receiver.close();
}

/**
 * Kills the service in the middle of one event's fan-out, starts it again, and counts what arrived at each endpoint.
 */
async function fanOut(servers: BenchServers, endpoints: number): Promise<void> {
  const receiver = await startReceiver();
  const system = await startBenchSystem(servers);
  await system.registerMany(Array.from({ length: endpoints }, (_, index) => `${receiver.url}/${index}`));
  const began = performance.now();
  await saturate(system, 1, 1);
  await until(() => receiver.count >= endpoints / 2, LIMIT_MS);
  await system.kill();
  const temporal = await connectBench(servers);
  const recorded = await countRecorded(temporal, system.taskQueue);
  await temporal.close();
  const arrived = receiver.count;
  const restarted = await restartBenchSystem(system);
  const missing = () => endpoints - receiver.arrivals.size;
  await until(() => missing() === 0, LIMIT_MS);
  await untilNoneOpen(servers, system.taskQueue);
  const repeated = receiver.count - receiver.arrivals.size;
  say(
    `fanout: one event to ${endpoints} endpoints, killed when ${arrived} had arrived, ${recorded} of them recorded; started again.`,
  );
  say(`        all told after ${seconds(began)}: ${missing()} missing, ${repeated} repeated.`);
  await restarted.stop();
  await receiver.close();
  if (repeated > arrived - recorded) throw new Error('what had been recorded was repeated');
}

/** Cost of an endpoint that responds 503, and of one that hangs, beside a healthy one. */
async function outage(servers: BenchServers, events: number): Promise<void> {
  for (const [kind, delayMs] of [
    ['answers 503', 0],
    ['hangs', HANGING_MS],
  ] as const) {
    const measured = await measureOutage(servers, events, delayMs);
    const { accepted, alone, besideHealthy, besideAccepting, besideFailing, cpu, repeated } = measured;
    const { downMs, returnedMs } = measured;
    const ratio = (value: number, of: number) => (value / of).toFixed(2);
    const p99 = (times: number[]) => percentile(times, 99);
    const latency = (times: number[]) => `${median(times).toFixed(1)}/${p99(times).toFixed(1)} ms`;
    const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
    say(`outage: ${events} events to an endpoint that ${kind}.`);
    say(
      `        accepted ${accepted.failing.toFixed(0)}/s, ${accepted.healthy.toFixed(0)}/s to a healthy one: ${ratio(accepted.failing, accepted.healthy)}.`,
    );
    for (const [what, of] of [
      ["another endpoint's", 'event'],
      ["  a bare start's", 'bareStart'],
    ] as const) {
      const times = (beside: Travel) => `${latency(beside[of])} = ${ratio(p99(beside[of]), p99(alone[of]))}`;
      say(
        `        ${what} p50/p99, p99 times that alone: alone ${latency(alone[of])}; beside the outage ${times(besideFailing)}; while its events are accepted ${times(besideAccepting)}, a healthy one's ${times(besideHealthy)}.`,
      );
    }
    say(
      `        CPU per event ${cpu.failing.toFixed(2)} ms, healthy ${cpu.healthy.toFixed(2)}: ${ratio(cpu.failing, cpu.healthy)}.`,
    );
    say(
      `        down for ${seconds(downMs)}, its first success ${seconds(returnedMs.first)} after its return; 95 % ${seconds(returnedMs.p95 - returnedMs.first)} and all ${seconds(returnedMs.all - returnedMs.first)} later; ${repeated} repeated.`,
    );
  }
}

/** Memory that the service holds after saturated runs, and when it is idle again. */
async function memory(servers: BenchServers, events: number): Promise<void> {
  const { fresh, runs, idle } = await measureMemory(servers, events);
  const shown = [fresh, ...runs, idle].map((residentBytes) => megabytes({ residentBytes }));
  const [first = Number.NaN] = runs;
  const ratio = ((runs.at(-1) ?? Number.NaN) / first).toFixed(2);
  say(
    `memory: fresh, after each run of ${events} events, and idle again: ${shown.join(', ')}; the last run ${ratio} x the first.`,
  );
}

/** Very many deliveries parked at one endpoint. */
async function parked(servers: BenchServers, events: number): Promise<void> {
  const { accepted, list, get, drainedMs, peak, repeated } = await measureParked(servers, events);
  const times = ({ p50, p95 }: { p50: number; p95: number }) => `${p50.toFixed(0)}/${p95.toFixed(0)} ms`;
  say(
    `parked: ${events} events accepted at ${accepted.failing.toFixed(0)}/s, ${(accepted.failing / accepted.healthy).toFixed(2)} x a healthy endpoint's.`,
  );
  say(`        p50/p95 of a page of them ${times(list)}, of one ${times(get)}.`);
  say(
    `        all delivered ${(drainedMs / 1_000).toFixed(0)} s after the first success, ${(events / (drainedMs / 1_000)).toFixed(0)}/s, ${repeated} repeated; at most ${megabytes({ residentBytes: peak })}.`,
  );
}

/** Kills the service once for each seed, while an endpoint fails and returns beside a healthy one. */
async function kills(servers: BenchServers, seeds: number): Promise<void> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const noneOpen = (taskQueue: string) => untilNoneOpen(servers, taskQueue);
    const { afterMs, acknowledged, lost, repeated } = await killOnce(servers, seed, noneOpen);
    say(
      `kills: seed ${seed}, after ${(afterMs / 1_000).toFixed(1)} s: ${acknowledged} acknowledged for two endpoints, ${lost} lost, 0 stuck, ${repeated} repeated at the healthy one.`,
    );
  }
}

/** Cost of the log, beside nothing else. */
async function log({ environment, folder }: BenchServers, records: number): Promise<void> {
  const uri = environment()['MONGODB_URI'] ?? '';
  const { ours, mongodb, perSecond, prove, verifyMs, certificateBytes } = await measureLog(
    uri,
    folder,
    records,
  );
  say(
    `log: ${records} records at ${perSecond.toFixed(0)}/s; CPU µs each: ${ours.toFixed(0)} Hookline, ${mongodb.toFixed(0)} MongoDB.`,
  );
  say(
    `     p50/p95 of a proof ${prove.p50.toFixed(1)}/${prove.p95.toFixed(1)} ms; a certificate with 10 attempts ${certificateBytes} bytes, verified in ${verifyMs.toFixed(2)} ms.`,
  );
}

/** Name servers of many endpoints stay silent, beside an endpoint that is healthy. */
async function dns(servers: BenchServers, endpoints: number): Promise<void> {
  const { alone, besideRefusing, beside, dead } = await measureSilentDns(servers, endpoints);
  const p99 = (times: number[]) => percentile(times, 99);
  const latency = (times: number[]) =>
    `${median(times).toFixed(1)}/${p99(times).toFixed(1)} ms = ${(p99(times) / p99(alone)).toFixed(2)} x`;
  say(
    `dns: p50/p99 of a healthy endpoint alone ${latency(alone)}, beside ${endpoints} that refuse connections ${latency(besideRefusing)}, beside ${endpoints} with silent name servers ${latency(beside)}.`,
  );
  say(`     ${dead.deliveries} deliveries to those, ${dead.questions} questions to DNS for IPv4.`);
}

/** Longer than an attempt may last. Milliseconds. */
const HANGING_MS = 30_000;

async function untilNoneOpen(servers: BenchServers, taskQueue: string): Promise<void> {
  await untilCount(servers, `TaskQueue = '${taskQueue}' AND ExecutionStatus = 'Running'`, 0);
}

async function untilCount(servers: BenchServers, query: string, expected: number): Promise<void> {
  const temporal = await connectBench(servers);
  const isSo = async () => (await temporal.client.workflow.count(query)).count === expected;
  await until(isSo, WAITING_LIMIT_MS, COUNT_EVERY_MS);
  await temporal.close();
}

function connectBench(servers: BenchServers): Promise<TemporalConnection> {
  return connectTemporal(requireServers(loadSettings(servers.environment())).temporal);
}

const seconds = (since: number) => `${((performance.now() - since) / 1_000).toFixed(1)} s`;
const megabytes = (usage: { residentBytes: number } | undefined) =>
  `${((usage?.residentBytes ?? 0) / 1e6).toFixed(0)} MB`;

const [drill = 'crash', size] = process.argv.slice(2);
installRuntime(pino({ level: 'silent' }), undefined);
const servers = await startServers(() => {});
say(`${cpus().length} cores, Node.js ${process.version}, Temporal dev server on SQLite (WAL)`);
try {
  if (drill === 'crash') await crash(servers, Number(size ?? 5_000));
  else if (drill === 'waiting') await waiting(servers, Number(size ?? 10_000));
  else if (drill === 'fanout') await fanOut(servers, Number(size ?? 5_000));
  else if (drill === 'outage') await outage(servers, Number(size ?? 2_000));
  else if (drill === 'parked') await parked(servers, Number(size ?? 100_000));
  else if (drill === 'kills') await kills(servers, Number(size ?? 20));
  else if (drill === 'memory') await memory(servers, Number(size ?? 5_000));
  else if (drill === 'log') await log(servers, Number(size ?? 20_000));
  else if (drill === 'dns') await dns(servers, Number(size ?? 50));
  else if (drill === 'freeze') await freeze(servers, Number(size ?? 15) * 1_000, say);
  else
    throw new Error(
      'npm run drill -- crash|waiting|fanout|outage|parked|kills|memory|log|dns [how many], or freeze [seconds]',
    );
} finally {
  await servers.stop();
}
