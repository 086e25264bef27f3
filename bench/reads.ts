import { saturate, sendSteadily, warmUp } from './support/load.js';
import { startReceiver } from './support/receiver.js';
import { percentile } from './support/statistics.js';
import { type BenchServers, startBenchSystem } from './support/system.js';
import { until } from './support/until.js';

/** How long a read takes beside arriving events. */
export interface ReadTimes {
  /** The path after the version, with what stands for an id. */
  call: string;
  /** Milliseconds. */
  p50: number;
  p95: number;
}

const CONCURRENCY = 32;
/** This share of the deliveries is open while they are read. */
const OPEN = 0.1;
const READS = 40;
const ARRIVING_PER_SECOND = 50;
const LIMIT_MS = 600_000;

/** Reads what a support desk reads, one call after another, while events arrive. */
export async function measureReads(servers: BenchServers, deliveries: number): Promise<ReadTimes[]> {
  let status = 200;
  const receiver = await startReceiver(undefined, 0, () => status);
  // Lists go on while the number of rows grows.
  const system = await startBenchSystem(servers, { HOOKLINE_LOG_INTERVAL: '2m' });
  const get = async (path: string) => {
    const response = await fetch(`${system.url}/v18.0/${path}`, {
      headers: { authorization: `Bearer ${system.key}` },
    });
    if (response.status !== 200)
      throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response.json() as Promise<{ data: { id: string }[] }>;
  };
  try {
    await system.register(`${receiver.url}/`);
    await warmUp(system, CONCURRENCY);
    const delivered = await saturate(system, deliveries * (1 - OPEN), CONCURRENCY);
    await until(() => delivered.every(({ id }) => receiver.accepted.has(`${id} /`)), LIMIT_MS);
    status = 503;
    const open = await saturate(system, deliveries * OPEN, CONCURRENCY);
    const endpointId = (await get('endpoints')).data[0]?.id ?? '';

    const some = [...delivered, ...open];
    const one = (read: number) => some[(read * 7_919) % some.length] ?? { id: '', order: '' };
    const delivery = (read: number) => one(read).id.replace('evt_', 'dlv_') + endpointId.replace('ep_', '_');
    const calls: [string, (read: number) => string][] = [
      ...[
        'deliveries',
        'deliveries?status=delivered',
        'deliveries?status=retrying,parked',
        'deliveries?open=true',
        'deliveries?event_kind=purchase&limit=100',
        'deliveries?status_code=200',
        'deliveries?status_code=503',
        'deliveries?error_code=timeout',
        'events',
        'events?open=true',
        'endpoints?health=failing',
        'stats',
      ].map((call): [string, () => string] => [call, () => call]),
      ['deliveries?endpoint_id=…&open=true', () => `deliveries?endpoint_id=${endpointId}&open=true`],
      ['deliveries?key=…', (read) => `deliveries?key=order_id:${one(read).order}`],
      ['events?key=…', (read) => `events?key=order_id:${one(read).order}`],
      ['deliveries/…', (read) => `deliveries/${delivery(read)}`],
      ['deliveries/…/timeline', (read) => `deliveries/${delivery(read)}/timeline`],
      [
        'explain?endpoint_id=…&event_id=…',
        (read) => `explain?endpoint_id=${endpointId}&event_id=${one(read).id}`,
      ],
    ];
    const results: ReadTimes[] = [];
    for (const [call, path] of calls) {
      const times: number[] = [];
      const arriving = sendSteadily(system, ARRIVING_PER_SECOND, 2);
      for (let read = 0; read < READS; read += 1) {
        const began = performance.now();
        await get(path(read));
        times.push(performance.now() - began);
      }
      await arriving;
      results.push({ call, p50: percentile(times, 50), p95: percentile(times, 95) });
    }
    return results;
  } finally {
    await system.stop();
    await receiver.close();
  }
}
