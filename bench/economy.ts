import { freePort } from '../packages/embedded-servers/src/index.js';
import { requireServers } from '../src/bin/process/server-settings.js';
import { loadSettings } from '../src/config/load.js';
import { connectTemporal } from '../src/temporal/server/connection.js';
import { saturate } from './support/load.js';
import { startReceiver } from './support/receiver.js';
import { type BenchServers, startBenchSystem } from './support/system.js';
import { countCalls } from './support/temporal-calls.js';
import { until } from './support/until.js';

/** Cost of one delivery to the engine. */
export interface Economy {
  historyEvents: number;
  /** Calls to Temporal, without long polls and the worker's signs of life. */
  calls: number;
}

/** Sends events as fast as they are answered, and counts what Temporal was asked and what it wrote. */
export async function measureEconomy(
  servers: BenchServers,
  options: { events: number; concurrency: number; overrides: Record<string, string> },
): Promise<Economy> {
  const { events, concurrency, overrides } = options;
  const metrics = `127.0.0.1:${await freePort()}`;
  const receiver = await startReceiver();
  const system = await startBenchSystem(servers, {
    ...overrides,
    HOOKLINE_TEMPORAL_METRICS_ADDRESS: metrics,
  });
  const temporal = await connectTemporal(requireServers(loadSettings(servers.environment())).temporal);
  try {
    await system.register(`${receiver.url}/`);
    const before = total(await countCalls(metrics));
    await saturate(system, events, concurrency);
    await until(() => receiver.arrivals.size === events);
    let historyEvents = 0;
    await until(async () => {
      historyEvents = 0;
      let open = 0;
      const query = `TaskQueue = '${system.taskQueue}'`;
      for await (const { historyLength = 0, status } of temporal.client.workflow.list({ query })) {
        historyEvents += historyLength;
        if (status.name === 'RUNNING') open += 1;
      }
      return historyEvents > 0 && open === 0;
    });
    const calls = total(await countCalls(metrics)) - before;
    return { historyEvents: historyEvents / events, calls: calls / events };
  } finally {
    await temporal.close();
    await system.stop();
    await receiver.close();
  }
}

function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}
