import { setTimeout as delay } from 'node:timers/promises';
import { saturate } from './support/load.js';
import { startReceiver } from './support/receiver.js';
import { type BenchServers, startBenchSystem } from './support/system.js';
import { until } from './support/until.js';
import { usageOf } from './support/usage.js';

/** Resident memory of a service, bytes. */
export interface Memory {
  fresh: number;
  /** After each saturated run, while it is still busy with what Node.js has put off. */
  runs: number[];
  idle: number;
}

const CONCURRENCY = 32;
const RUNS = 3;
const IDLE_MS = 30_000;

/** Memory that a service holds after saturated runs, and once nothing has happened for a while. */
export async function measureMemory(servers: BenchServers, events: number): Promise<Memory> {
  const receiver = await startReceiver();
  const system = await startBenchSystem(servers);
  const resident = async () => (await usageOf(system.pid))?.residentBytes ?? Number.NaN;
  try {
    await system.register(`${receiver.url}/`);
    const fresh = await resident();
    const runs: number[] = [];
    for (let run = 1; run <= RUNS; run += 1) {
      await saturate(system, events, CONCURRENCY);
      await until(() => receiver.arrivals.size >= run * events);
      runs.push(await resident());
    }
    await delay(IDLE_MS);
    return { fresh, runs, idle: await resident() };
  } finally {
    await system.stop();
    await receiver.close();
  }
}
