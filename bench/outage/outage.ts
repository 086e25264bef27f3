import { setTimeout as delay } from 'node:timers/promises';
import { saturate, warmUp } from '../support/load.js';
import { startReceiver } from '../support/receiver.js';
import { type BenchServers, startBenchSystem } from '../support/system.js';
import { until } from '../support/until.js';
import { findProcess, usageOf } from '../support/usage.js';
import { startBystander } from './bystander.js';
import { BARE_STARTS_PER_SECOND, EVENTS_PER_SECOND, type Travel } from './travel.js';

/** Cost of an endpoint that fails, beside that of a healthy one in the same run. */
export interface Outage {
  /** Events accepted each second: to a healthy endpoint, and to the failing one. */
  accepted: { healthy: number; failing: number };
  /** Times of another endpoint, which is healthy and has little traffic. */
  alone: Travel;
  /** The same while events for a healthy endpoint are accepted as fast as they come. */
  besideHealthy: Travel;
  /** The same while events for the failing one are. */
  besideAccepting: Travel;
  /** The same from the first event for the failing endpoint until all of them had arrived. */
  besideFailing: Travel;
  /** From the first event for the failing endpoint until its return: probes come at fixed times after that. */
  downMs: number;
  /** From the endpoint's return until its first, and then 95 % and all of its events had arrived, milliseconds. */
  returnedMs: { first: number; p95: number; all: number };
  /**
   * Processor time of service and Temporal for each event, from its post to its delivery, milliseconds: without what
   * they use while nothing happens.
   */
  cpu: { healthy: number; failing: number };
  repeated: number;
}

const CONCURRENCY = 32;
/** About as long as an outage with its release. Milliseconds. */
const ALONE_MS = 30_000;
const ROUNDS = 3;
/** From the last accepted event to the endpoint's return. Milliseconds. */
const DOWN_MS = 20_000;
const IDLE_MS = 5_000;
const LIMIT_MS = 600_000;

/**
 * An endpoint fails while events for it come as fast as they are accepted, and returns; a healthy one beside it gets
 * events at a steady rate meanwhile.
 *
 * @param delayMs how long the failing endpoint takes for an answer
 */
export async function measureOutage(servers: BenchServers, events: number, delayMs = 0): Promise<Outage> {
  let status = 200;
  let wait = 0;
  const bad = await startReceiver(
    undefined,
    () => wait,
    () => status,
  );
  const system = await startBenchSystem(servers);
  const temporalPid = await findProcess('start-dev', servers.temporalAddress.split(':')[1] ?? '');
  const cpu = async () =>
    ((await usageOf(system.pid))?.cpuMs ?? 0) + ((await usageOf(temporalPid ?? 0))?.cpuMs ?? 0);
  const bystander = await startBystander(servers, await system.newAccount());
  const { travel } = bystander;
  try {
    await system.register(`${bad.url}/`);
    const accept = async () => {
      const [began, before] = [performance.now(), bad.accepted.size];
      await saturate(system, events, CONCURRENCY);
      const perSecond = events / ((performance.now() - began) / 1_000);
      // Counted: to look for each of them every few milliseconds would keep a processor busy.
      return { perSecond, arrived: () => bad.accepted.size - before };
    };
    const used = async <T>(work: () => Promise<T>) => {
      const [began, before] = [performance.now(), await cpu()];
      const result = await work();
      return { result, cpuMs: (await cpu()) - before, ms: performance.now() - began };
    };

    const warmed = await warmUp(system, CONCURRENCY);
    await until(() => bad.accepted.size === warmed, LIMIT_MS);
    await travel(() => delay(2_000));
    const idle = await used(() => delay(IDLE_MS));
    const perEvent = ({ cpuMs, ms }: { cpuMs: number; ms: number }) =>
      (cpuMs - (idle.cpuMs / idle.ms) * ms) / events;

    const succeed = async () => {
      const { perSecond, arrived } = await accept();
      await until(() => arrived() === events, LIMIT_MS);
      return perSecond;
    };
    const healthy = await used(succeed);
    const fail = async () => {
      bad.arrivals.clear();
      status = 503;
      wait = delayMs;
      const began = performance.now();
      const { perSecond, arrived } = await accept();
      await delay(DOWN_MS);
      const attempts = bad.count;
      status = 200;
      wait = 0;
      const returnedAt = performance.now();
      const downMs = returnedAt - began;
      const since = async (share: number) => {
        await until(() => arrived() >= events * share, LIMIT_MS);
        return performance.now() - returnedAt;
      };
      const returnedMs = { first: await since(1 / events), p95: await since(0.95), all: await since(1) };
      return { perSecond, downMs, returnedMs, repeated: bad.count - attempts - events };
    };
    const failing = await used(fail);

    // Alone and beside in turns, because the machine is faster in one minute than in another.
    const [alone, besideHealthy, besideAccepting, besideFailing] = [
      noTravel(),
      noTravel(),
      noTravel(),
      noTravel(),
    ];
    for (let round = 0; round < ROUNDS; round += 1) {
      add(alone, (await travel(() => delay(ALONE_MS))).travelled);
      add(besideHealthy, (await travel(succeed)).travelled);
      const { travelled, result } = await travel(fail);
      add(besideFailing, travelled);
      add(besideAccepting, firstOf(travelled, events / result.perSecond));
    }

    return {
      accepted: { healthy: healthy.result, failing: failing.result.perSecond },
      alone,
      besideHealthy,
      besideAccepting,
      besideFailing,
      downMs: failing.result.downMs,
      returnedMs: failing.result.returnedMs,
      cpu: { healthy: perEvent(healthy), failing: perEvent(failing) },
      repeated: failing.result.repeated,
    };
  } finally {
    await bystander.stop();
    await system.stop();
    await bad.close();
  }
}

function noTravel(): Travel {
  return { event: [], bareStart: [] };
}

function firstOf({ event, bareStart }: Travel, seconds: number): Travel {
  return {
    event: event.slice(0, seconds * EVENTS_PER_SECOND),
    bareStart: bareStart.slice(0, seconds * BARE_STARTS_PER_SECOND),
  };
}

function add(to: Travel, { event, bareStart }: Travel): void {
  to.event.push(...event);
  to.bareStart.push(...bareStart);
}
