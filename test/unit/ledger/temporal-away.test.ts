import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { newId } from '../../../src/domain/basics/ids.js';
import { MAX_STARTED_AT_ONCE } from '../../../src/domain/delivery/delivery.js';
import type { EventRow, RecordReads } from '../../../src/domain/records/stored.js';
import { type KeptReplay, NO_PROGRESS, type ReplayInput } from '../../../src/domain/replay/replay.js';
import { mongodbClock } from '../../../src/domain/time/shared-time.js';
import { GRPC, isTemporalUnavailable } from '../../../src/temporal/errors.js';
import { BacklogReader } from '../../../src/temporal/read/backlog/backlog-reader.js';
import { EventReader } from '../../../src/temporal/read/event-reader.js';
import { ReplayReader, type ReplayReads } from '../../../src/temporal/read/replay/replay-reader.js';
import { unlessAway } from '../../../src/temporal/read/unless-away.js';
import { reporter } from '../../support/parts/incidents.js';

const unavailable = () => Promise.reject(Object.assign(new Error(), { code: GRPC.unavailable, details: '' }));
/** Temporal's client while Temporal is away. */
const client = {
  withDeadline: (_deadline: number, read: () => Promise<unknown>) => read(),
  workflow: { count: unavailable, getHandle: () => ({ describe: unavailable }) },
} as unknown as Client;

describe('a read while Temporal is away', () => {
  afterEach(() => {
    mock.timers.reset();
    mock.restoreAll();
  });

  it('has what MongoDB knows, if Temporal cannot be reached or is silent for two seconds', async () => {
    assert.equal(await unlessAway(client, async () => 'told', 'known'), 'told');
    assert.equal(await unlessAway(client, unavailable, 'known'), 'known');
    const fail = () => Promise.reject(new TypeError('a defect'));
    await assert.rejects(unlessAway(client, fail, 'known'), /a defect/);
    mock.timers.enable({ apis: ['setTimeout'] });
    let found: string | undefined;
    void unlessAway(client, () => new Promise<string>(() => {}), 'known').then((one) => {
      found = one;
    });
    mock.timers.tick(1_999);
    await turn();
    assert.equal(found, undefined);
    mock.timers.tick(1);
    await turn();
    assert.equal(found, 'known');
  });

  it('ends its calls when it ends, by the clock that the SDK compares them with', async () => {
    mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
    // MongoDB's clock, which the SDK knows nothing of.
    mock.method(mongodbClock, 'now', () => 0);
    const deadlines: unknown[] = [];
    const noting = {
      withDeadline: async <T>(deadline: number | Date, read: () => Promise<T>) => {
        deadlines.push(deadline);
        return read();
      },
    };
    assert.equal(await unlessAway(noting, async () => 'told', 'known'), 'told');
    assert.deepEqual(deadlines, [1_002_000]);
  });

  it("has an endpoint's incident as far as the endpoint's mark tells of it", async () => {
    const { incidents } = reporter({
      client,
      taskQueue: 'q',
      disableAfterMs: 60_000,
      probeIntervalMs: 5_000,
    });
    const endpoint = { account_id: newId('account'), endpoint_id: newId('endpoint') };
    const [since, backoff_until] = ['2026-11-21T12:00:00.000Z', '2026-11-21T12:00:40.000Z'];
    assert.equal(await incidents.of(endpoint, undefined), undefined);
    assert.deepEqual(await incidents.of(endpoint, { since }), { since });
    assert.deepEqual(await incidents.of(endpoint, { since, backoff_until }), {
      since,
      next_probe_at: backoff_until,
    });
  });

  it('does not say how many endpoints are failing', async () => {
    const backlog = new BacklogReader(client, {} as ConstructorParameters<typeof BacklogReader>[1], 0);
    assert.equal(await backlog.openIncidents(), undefined);
  });

  it('has a replay, without its progress while it is open', async () => {
    const id = newId('replay');
    const definition = { action: 'retry', filter: {}, rate: 20, by: 'key_1', created_at: '' };
    const open: KeptReplay = { id, account_id: 'acct_1', definition, input: {} as ReplayInput };
    const end = {
      progress: { ...NO_PROGRESS, state: 'finished' as const, done: 2 },
      closed_at: '',
      run_id: 'r',
    };
    const read = async (...kept: KeptReplay[]) => {
      const page = async () => kept.map((replay) => ({ position: '', replay }));
      const replays = { page, get: async () => kept[0] };
      const reader = new ReplayReader(client, replays);
      const { data } = await reader.list('acct_1', 10);
      assert.deepEqual(data[0], await reader.get('acct_1', id));
      return data.map(({ action, state, done }) => ({ action, state, done }));
    };
    assert.deepEqual(await read(open, { ...open, end }), [
      { action: 'retry', state: undefined, done: undefined },
      { action: 'retry', state: 'finished', done: 2 },
    ]);
    // Whether there are too many is decided by what is known.
    await assert.rejects(new ReplayReader(client, {} as ReplayReads).view(open), isTemporalUnavailable);
  });

  it('has how far the fan-out of an event is, by its rows', async () => {
    const id = newId('event', 0);
    const read = async (endpoints: number) => {
      const endpoint_ids = Array.from({ length: endpoints }, () => newId('endpoint'));
      const records: Pick<RecordReads, 'event' | 'deliveriesOf' | 'countOf'> = {
        event: async () => ({ id, endpoint_ids, carrier_of: new Map() }) as unknown as EventRow,
        deliveriesOf: async () => [],
        countOf: async (_account, _event, most) => Math.min(120, most),
      };
      const sources = { client, records } as ConstructorParameters<typeof EventReader>[0];
      const { fan_out, deliveries } = (await new EventReader(sources).get('acct_1', id)) ?? assert.fail();
      return [fan_out, deliveries.length];
    };
    const most = MAX_STARTED_AT_ONCE;
    assert.deepEqual(await read(most + 1), [{ started: 120, total: most + 1 }, 0]);
    assert.deepEqual(await read(most), [undefined, most]);
    assert.deepEqual(await read(0), [undefined, 0]);
    const reader = new EventReader({ client } as ConstructorParameters<typeof EventReader>[0]);
    assert.equal(await reader.fanOut('acct_1', id), 'away');
  });
});
