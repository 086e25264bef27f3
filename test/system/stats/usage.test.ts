import assert from 'node:assert/strict';
import mongoose from 'mongoose';
import { OPERATOR_SCOPES } from '../../../src/domain/access/api-key.js';
import { UNITS } from '../../../src/domain/basics/duration.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { monthAndHour } from '../../../src/domain/stats/usage.js';
import { sharedNow } from '../../../src/domain/time/shared-time.js';
import { UsageRepository } from '../../../src/models/stats/usage.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { runHere } from '../../support/programs/command.js';
import { inTurn, type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('usage by account and month', () => {
  let system: TestSystem;
  let operator: ApiClient;
  let receiver: Receiver;
  before(async () => {
    [system, receiver] = await Promise.all([startSystem(), startReceiver()]);
    operator = await system.account(OPERATOR_SCOPES);
  });
  after(async () => {
    await receiver?.close();
    await system?.stop();
  });

  const usage = (query = '') => operator.request('GET', `/v18.0/installation/usage${query}`);
  const bytes = Buffer.byteLength(PURCHASE);

  it('counts events, bytes, deliveries and attempts, and counts none twice', async () => {
    const [busy, quiet, idle] = await Promise.all([system.account(), system.account(), system.account()]);
    await operator.request('PATCH', `/v18.0/accounts/${busy.accountId}`, { body: { name: '=Busy, "Inc."' } });
    receiver.handle(inTurn(reply(500), reply(200)));
    await busy.register(receiver.url, { retry_schedule: ['100ms'] });
    const began = sharedNow();
    const { deliveries } = await busy.purchase();
    await busy.deliveryUntil(deliveries[0]?.id ?? '', ({ status }) => status === 'delivered');
    await quiet.purchase();
    await quiet.purchase();
    assert.deepEqual((await usage()).json.data, [], 'nothing is counted before its hour is over');

    const { month } = monthAndHour(began);
    const hour = Math.floor(began / UNITS.h) * UNITS.h;
    // A row is there a moment before its segment, from which is counted.
    await until(
      async () => {
        for (const one of [hour, hour + UNITS.h]) await system.database.usage.countHour(one);
        return usage(`?month=${month}`);
      },
      ({ text }) => text.includes('"attempts":2'),
    );
    await system.database.usage.count(undefined, began + 2 * UNITS.h);
    const counted = await usage(`?month=${month}`);
    assert.equal(counted.status, 200, counted.text);
    const rows = new Map<string, Record<string, unknown>>(
      counted.json.data.map((row: { account: { id: string } }) => [row.account.id, row]),
    );
    const { counted_until, ...ofBusy } = rows.get(busy.accountId) ?? {};
    const account = { id: busy.accountId, name: '=Busy, "Inc."' };
    assert.deepEqual(ofBusy, { account, month, events: 1, bytes, deliveries: 1, attempts: 2 });
    assert.ok(Date.parse(String(counted_until)) > began);
    assert.deepEqual(
      [rows.get(quiet.accountId)?.['events'], rows.get(quiet.accountId)?.['bytes']],
      [2, 2 * bytes],
    );
    assert.ok(!rows.has(idle.accountId));

    // As a process does that was killed before it said so, or one that counts at the same time.
    await system.database.usage.countHour(hour);
    const again = await usage(`?month=${month}&limit=1`);
    assert.deepEqual(again.json.data, counted.json.data.slice(0, 1));
    const next = await operator.request('GET', again.json.paging.next);
    assert.deepEqual(next.json.data, counted.json.data.slice(1, 2));

    const csv = await operator.request('GET', `/v18.0/installation/usage?month=${month}`, {
      headers: { accept: 'text/csv' },
    });
    assert.match(csv.headers.get('content-type') ?? '', /^text\/csv/);
    const line = csv.text.split('\r\n').find((text) => text.includes(busy.accountId));
    assert.equal(line, `${month},${busy.accountId},"'=Busy, ""Inc.""",1,${bytes},1,2`);
    assert.equal((await usage(`?month=${month}&format=csv`)).text, csv.text);
    const environment = { HOOKLINE_URL: system.url, HOOKLINE_API_KEY: operator.key };
    assert.match(
      await runHere('usage', environment, ['--month', month]),
      new RegExp(`${quiet.accountId} .* 2 `),
    );
    assert.equal(
      await runHere('usage', environment, ['--month', month, '--csv']),
      csv.text.trimEnd().replaceAll('\r\n', '\n'),
    );
    await assert.rejects(runHere('usage', environment, ['--csv', '--json']), /exclude each other/);
  });

  describe('of a process that counts', () => {
    const HOUR = Date.parse('2026-01-10T05:00:00Z');
    let root: mongoose.Connection;
    let connection: mongoose.Connection;
    let counted: number[];

    before(async () => {
      root = await mongoose.createConnection(system.environment['MONGODB_URI'] ?? '').asPromise();
    });
    after(() => root.close());
    beforeEach(async () => {
      counted = [];
      connection = root.useDb(`usage_${newId('account')}`);
      await stored().insertOne({ _id: 'progress', until: new Date(HOUR) });
    });
    afterEach(() => connection.dropDatabase());

    const stored = () => connection.collection<{ _id: string; until?: Date }>('usage');
    /** @param during called between two parts of an hour */
    const countWhile = (during: (part: number) => unknown, stopping?: AbortSignal) => {
      const segments = {
        async *usageBetween(from: number) {
          counted.push((from - HOUR) / UNITS.h);
          for (const part of [1, 2, 3]) {
            await during(part);
            yield { account_id: 'acct_1', deliveries: 1, attempts: 1 };
          }
        },
      };
      return new UsageRepository(connection, segments).count(stopping, HOUR + 5 * UNITS.h);
    };

    it('ends between two parts of an hour if it is told to stop, and writes nothing', async () => {
      const stopping = new AbortController();
      const parts: number[] = [];
      await countWhile((part) => {
        parts.push(part);
        if (part === 2) stopping.abort();
      }, stopping.signal);
      assert.deepEqual([counted, parts], [[0], [1, 2]]);
      assert.deepEqual(await stored().find().toArray(), [{ _id: 'progress', until: new Date(HOUR) }]);
    });

    it('leaves out the hours that another one has counted meanwhile', async () => {
      const until = new Date(HOUR + 3 * UNITS.h);
      await countWhile(() => stored().updateOne({ _id: 'progress' }, { $max: { until } }));
      assert.deepEqual(counted, [0, 3]);
    });
  });

  it('is for the operator alone, and of a month', async () => {
    assert.equal((await (await system.account()).request('GET', '/v18.0/installation/usage')).status, 403);
    assert.equal((await usage('?month=2026-13')).status, 400);
    assert.deepEqual((await usage('?month=2020-01')).json.data, []);
  });
});
