import { setTimeout as delay } from 'node:timers/promises';
import { saturate } from './support/load.js';
import { seeded } from './support/random.js';
import { startReceiver } from './support/receiver.js';
import { type BenchServers, restartBenchSystem, startBenchSystem } from './support/system.js';
import { until } from './support/until.js';

/** Effect of one kill. */
export interface Kill {
  /** When it was, after the first event, milliseconds. */
  afterMs: number;
  acknowledged: number;
  lost: number;
  repeated: number;
}

const EVENTS = 600;
const CONCURRENCY = 16;
/**
 * Events go on for about this long after the kill could be, so that it meets accepting, waiting, probing and releasing.
 * Milliseconds.
 */
const LATEST_KILL_MS = 14_000;
/** The failing endpoint returns this long after the first event, milliseconds. */
const RETURN_MS = 7_000;
const LIMIT_MS = 300_000;

/**
 * Events for a healthy endpoint and for one that answers 503 for some seconds; the service is killed at a time that the
 * seed gives, and started again.
 *
 * @param noneOpen resolves once no delivery of the task queue is open
 */
export async function killOnce(
  servers: BenchServers,
  seed: number,
  noneOpen: (taskQueue: string) => Promise<void>,
): Promise<Kill> {
  const afterMs = Math.floor(seeded(seed)() * LATEST_KILL_MS);
  let status = 503;
  const good = await startReceiver();
  const bad = await startReceiver(undefined, 0, () => status);
  const system = await startBenchSystem(servers, { HOOKLINE_RETRY_SCHEDULE: '2s,5s,5s,5s,1m,1m,1m' });
  await system.register(`${good.url}/`);
  await system.register(`${bad.url}/`);
  const acknowledged: string[] = [];
  // As fast as it can be at first, then a few now and then.
  const sending = async () => {
    await saturate(system, EVENTS, CONCURRENCY, ({ id }) => acknowledged.push(id));
    for (;;) {
      await saturate(system, 1, 1, ({ id }) => acknowledged.push(id));
      await delay(100);
    }
  };
  const ended = sending().catch(() => {});
  setTimeout(() => {
    status = 200;
  }, RETURN_MS);
  await delay(afterMs);
  await system.kill();
  await ended;
  const restarted = await restartBenchSystem(system);
  try {
    const missing = () =>
      acknowledged.flatMap((id) => [good, bad].filter(({ accepted }) => !accepted.has(`${id} /`))).length;
    await until(() => missing() === 0, LIMIT_MS).catch(() => {});
    const lost = missing();
    await noneOpen(system.taskQueue);
    const repeated = good.count - good.accepted.size;
    return { afterMs, acknowledged: acknowledged.length, lost, repeated };
  } finally {
    await restarted.stop();
    await good.close();
    await bad.close();
  }
}
