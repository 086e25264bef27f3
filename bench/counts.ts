import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { saturate, warmUp } from './support/load.js';
import { startReceiver } from './support/receiver.js';
import { type BenchServers, startBenchSystem } from './support/system.js';
import { until } from './support/until.js';

/**
 * Counts what the service's main thread does for one delivery of a group: it depends on the code and on the size of
 * groups, and not on how fast the machine is.
 */
export async function measureCounts(
  servers: BenchServers,
  { events, concurrency }: { events: number; concurrency: number },
): Promise<Record<string, number>> {
  const file = join(servers.folder, 'counts.json');
  const receiver = await startReceiver(servers.authority);
  const system = await startBenchSystem(servers, { BENCH_COUNTS: file }, 'serve-counted.js');
  const countsNow = async (): Promise<Record<string, number>> => {
    await rm(file, { force: true });
    process.kill(system.pid, 'SIGUSR2');
    let counts: Record<string, number> | undefined;
    await until(async () => {
      counts = await readFile(file, 'utf8').then(JSON.parse, () => undefined);
      return counts !== undefined;
    });
    return counts ?? {};
  };
  try {
    await system.register(`${receiver.url}/`);
    const warm = await warmUp(system, concurrency);
    await until(() => receiver.arrivals.size === warm);
    const before = await countsNow();
    await saturate(system, events, concurrency);
    await until(() => receiver.arrivals.size === warm + events);
    const after = await countsNow();
    return Object.fromEntries(
      Object.entries(after).map(([name, value]) => [name, (value - (before[name] ?? 0)) / events]),
    );
  } finally {
    await system.stop();
    await receiver.close();
  }
}
