import { randomUUID } from 'node:crypto';
import { compareLog, NO_LOG_COUNTS } from '../src/bin/archive/compare-log.js';
import { compareVersions } from '../src/bin/archive/compare-versions.js';
import { requireBoxes } from '../src/bin/process/secrets.js';
import { createSegmentAppender } from '../src/bin/service/log/segment-appender.js';
import { loadSettings } from '../src/config/load.js';
import { positionAt, runOrder } from '../src/domain/archive/archived.js';
import { committedRecord } from '../src/domain/archive/commitments.js';
import { deliveryId } from '../src/domain/basics/delivery-id.js';
import { newId } from '../src/domain/basics/ids.js';
import type { ShownStatus } from '../src/domain/delivery/delivery.js';
import type { EventToStore } from '../src/domain/delivery/stored-event.js';
import { storableEvent } from '../src/domain/ledger/sealed-event.js';
import { deliveryWorkflowId } from '../src/domain/ledger/workflow-ids.js';
import { createPayloadSealer, type PayloadSealer } from '../src/domain/privacy/payload-sealer.js';
import { connectDatabase, type Database } from '../src/models/database.js';
import { percentile } from './support/statistics.js';
import { type BenchServers, startBenchSystem } from './support/system.js';
import { usageOf } from './support/usage.js';

/** How long reads of the archive take. Milliseconds. */
export interface ArchiveTimes {
  call: string;
  p50: number;
  p95: number;
}

const AT_ONCE = 500;
const READS = 40;
const DAY_MS = 24 * 3_600_000;
const PAYLOAD = JSON.stringify({
  order_id: 'order-1',
  customer_email: 'ada@example.com',
  total: 12.5,
  items: [{ name: 'Notebook', qty: 2 }],
});

/** Deliveries that Temporal has forgotten: they are put into the archive by themselves. */
export async function fillArchive(
  {
    archive,
    segments,
    log,
    events,
    dataKeys,
  }: Pick<Database, 'archive' | 'segments' | 'log' | 'events' | 'dataKeys'>,
  account_id: string,
  count: number,
  atOnce = AT_ONCE,
  keep: (act: () => Promise<void>) => Promise<void> = (act) => act(),
): Promise<{ ids: string[]; endpointIds: string[] }> {
  const { takeAll } = createSegmentAppender({ segments, log }, { refused: async () => {} });
  const endpointIds = Array.from({ length: 10 }, () => newId('endpoint'));
  const ids: string[] = [];
  const sealer = createPayloadSealer(dataKeys, false);
  const began = Date.now() - 31 * DAY_MS;
  for (let made = 0; made < count; made += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, count - made) }, (_, index) =>
      archivedDelivery(
        account_id,
        endpointIds,
        made + index,
        new Date(began - (count - made - index) * 1_000),
      ),
    );
    await events.insert(await Promise.all(some.map((one) => storedEvent(sealer, one))));
    const sealed = await archive.keepEvents(some.map(({ event }) => event));
    const committed = some.map(async ({ delivery, closed }) => {
      const { id, revision, event_id: eventId } = delivery;
      const { commitment, key = '' } = sealed.get(eventId) ?? {};
      const salts = await archive.saltsOf({ accountId: account_id, eventId }, key, { id, revision });
      const record = committedRecord(account_id, { ...delivery, closed }, revision, commitment, salts);
      return { delivery: { ...delivery, key, record } };
    });
    const kept = await Promise.all(committed);
    await keep(async () => {
      await archive.rows.keep(kept);
      await takeAll();
    });
    ids.push(...some.map(({ delivery }) => delivery.id));
  }
  return { ids, endpointIds };
}

/** The event of a delivery as it was stored when it was accepted. */
async function storedEvent(
  sealer: PayloadSealer,
  { event, delivery: { endpoint_id } }: ReturnType<typeof archivedDelivery>,
): Promise<EventToStore> {
  const { id: event_id, account_id, event_kind, payload, keys } = event;
  const accepted = {
    account_id,
    event_id,
    event_kind,
    payload,
    keys,
    accepted_at: event.accepted_at.toISOString(),
  };
  const storable = await storableEvent(sealer, accepted, undefined);
  return { ...storable, targets: [{ endpoint_id }], carriers: [], starter: 'bench' };
}

function archivedDelivery(account_id: string, endpointIds: readonly string[], number: number, at: Date) {
  const event_id = newId('event', at.getTime());
  const endpoint_id = endpointIds[number % endpointIds.length] ?? '';
  const id = deliveryId({ event_id, endpoint_id });
  const isBad = number % 50 === 0;
  const status: ShownStatus = isBad ? 'exhausted' : 'delivered';
  const run_id = randomUUID();
  const time = at.toISOString();
  const keys = [`k:${event_id.slice(-16)}`];
  const summary = {
    id,
    event_id,
    endpoint_id,
    event_kind: 'purchase',
    status,
    created_at: time,
    started_at: time,
    closed_at: time,
    reason: isBad
      ? 'Attempt 1 answered 503. That was the last of the schedule.'
      : 'The endpoint answered 2xx.',
    workflow_id: deliveryWorkflowId(account_id, { event_id, endpoint_id }),
    run_id,
  };
  const attempt = {
    number: 1,
    at: time,
    duration_ms: 12,
    webhook_timestamp: Math.floor(at.getTime() / 1_000),
    url: 'https://subscriber.example/hooks',
    url_host: 'subscriber.example',
    endpoint_version: 1,
    address: '192.0.2.1',
    timings_ms: { dns: 1, connect: 2, tls: 4, first_byte: 5 },
    request_bytes: PAYLOAD.length,
    status_code: isBad ? 503 : 200,
    response_headers: { date: time },
    trigger: 'schedule' as const,
  };
  const detail = { attempts: [attempt], payload_bytes: PAYLOAD.length };
  const position = positionAt(at, run_id, 0);
  const common = { account_id, event_kind: 'purchase', accepted_at: at, keys };
  return {
    closed: { ...summary, ...detail },
    event: {
      ...common,
      id: event_id,
      payload: PAYLOAD,
      payload_bytes: PAYLOAD.length,
      closed_at: at,
    },
    delivery: {
      ...common,
      id,
      event_id,
      endpoint_id,
      status,
      status_code: attempt.status_code,
      position,
      run_id,
      run_order: runOrder(time, at),
      revision: 1,
      summary: JSON.stringify(summary),
      detail: JSON.stringify(detail),
      timeline: JSON.stringify([{ at: time, type: 'closed', text: 'Delivered.', status }]),
    },
  };
}

/**
 * Reads of an account whose deliveries are all archived.
 *
 * @param get reads a path below the version, and fails unless it is answered 200
 */
export async function readArchive(
  get: (path: string) => Promise<{ paging?: { cursors: { after?: string } } }>,
  { ids, endpointIds }: { ids: readonly string[]; endpointIds: readonly string[] },
): Promise<ArchiveTimes[]> {
  const one = (list: readonly string[], read: number) => list[(read * 7_919) % list.length] ?? '';
  const event = (read: number) => `evt_${one(ids, read).slice(4, 30)}`;
  const endpoint = (read: number) => one(endpointIds, read);
  let deep: string | undefined;
  for (let page = 0; page < 5; page += 1) {
    const { paging }: { paging?: { cursors: { after?: string } } } = await get(
      `deliveries?limit=100${deep === undefined ? '' : `&after=${deep}`}`,
    );
    deep = paging?.cursors.after;
  }
  const calls: [string, (read: number) => string][] = [
    ['deliveries/…', (read) => `deliveries/${one(ids, read)}`],
    ['deliveries/…/timeline', (read) => `deliveries/${one(ids, read)}/timeline`],
    ['events/…', (read) => `events/${event(read)}`],
    ['deliveries', () => 'deliveries'],
    ['deliveries?limit=100, sixth page', () => `deliveries?limit=100&after=${deep}`],
    ['deliveries?status=exhausted', () => 'deliveries?status=exhausted'],
    ['deliveries?open=false', () => 'deliveries?open=false'],
    ['deliveries?endpoint_id=…', (read) => `deliveries?endpoint_id=${endpoint(read)}`],
    [
      'deliveries?endpoint_id=…&status=exhausted',
      (read) => `deliveries?endpoint_id=${endpoint(read)}&status=exhausted`,
    ],
    [
      'deliveries?event_kind=purchase&status_code=503',
      () => 'deliveries?event_kind=purchase&status_code=503',
    ],
    ['deliveries?event_id=…', (read) => `deliveries?event_id=${event(read)}`],
    ['events', () => 'events'],
    ['events?status=exhausted', () => 'events?status=exhausted'],
  ];
  const results: ArchiveTimes[] = [];
  for (const [call, path] of calls) {
    const times: number[] = [];
    for (let read = 0; read < READS; read += 1) {
      const began = performance.now();
      await get(path(read));
      times.push(performance.now() - began);
    }
    results.push({ call, p50: percentile(times, 50), p95: percentile(times, 95) });
  }
  return results;
}

/** What it costs to keep a delivery and to have the log take it. Milliseconds. */
export interface KeepingCost {
  atOnce: number;
  /** Of processor time of the MongoDB server, and of this process. */
  server: number;
  own: number;
  elapsed: number;
}

/** Keeps deliveries, some at once, and has the log take them. */
export async function measureKeeping(
  servers: BenchServers,
  { count, atOnce }: { count: number; atOnce: number },
): Promise<KeepingCost> {
  const settings = loadSettings(servers.environment());
  const database = await connectDatabase(settings.MONGODB_URI ?? '', {
    ...requireBoxes(settings),
    encryptsPayloads: true,
  });
  const pid = (await servers.pid('MongoDB')) ?? 0;
  const cost = { atOnce, server: 0, own: 0, elapsed: 0 };
  try {
    await database.createIndexes();
    await fillArchive(database, newId('account'), count, atOnce, async (act) => {
      const server = (await usageOf(pid))?.cpuMs ?? 0;
      const own = process.cpuUsage();
      const began = performance.now();
      await act();
      const { user, system } = process.cpuUsage(own);
      cost.elapsed += (performance.now() - began) / count;
      cost.own += (user + system) / 1_000 / count;
      cost.server += (((await usageOf(pid))?.cpuMs ?? 0) - server) / count;
    });
    return cost;
  } finally {
    await database.close();
  }
}

/** What it costs to compare a whole archive with the log. */
export interface AuditCost {
  seconds: number;
  /** Of this process, seconds. */
  processor: number;
  /** Records in which something is wrong: none. */
  differences: number;
}

/** Compares an archive with the log, as `hookline archive verify` does where Temporal has nothing left of it. */
async function audit(database: Database): Promise<AuditCost> {
  const began = performance.now();
  const before = process.cpuUsage();
  let differences = 0;
  for await (const _ of compareLog({ database, keys: [], memory: {}, keptDays: 400 }, { ...NO_LOG_COUNTS }))
    differences += 1;
  for await (const _ of compareVersions(database.changes.audit, { from: new Date(0), to: new Date() }))
    differences += 1;
  const { user, system } = process.cpuUsage(before);
  return { seconds: (performance.now() - began) / 1_000, processor: (user + system) / 1e6, differences };
}

/** Reads an archive of deliveries that Temporal has forgotten, and compares it with the log. */
export async function measureArchive(
  servers: BenchServers,
  deliveries: number,
): Promise<{ reads: ArchiveTimes[]; audit: AuditCost }> {
  const system = await startBenchSystem(servers);
  const settings = loadSettings(system.environment);
  const database = await connectDatabase(settings.MONGODB_URI ?? '', {
    ...requireBoxes(settings),
    encryptsPayloads: true,
  });
  try {
    await database.createIndexes();
    const filled = await fillArchive(database, system.id, deliveries);
    const reads = await readArchive(async (path) => {
      const response = await fetch(`${system.url}/v18.0/${path}`, {
        headers: { authorization: `Bearer ${system.key}` },
      });
      if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
      return response.json() as Promise<{ paging?: { cursors: { after?: string } } }>;
    }, filled);
    return { reads, audit: await audit(database) };
  } finally {
    await database.close();
    await system.stop();
  }
}
