import assert from 'node:assert/strict';
import { pino } from 'pino';
import { requireBoxes } from '../../../src/bin/process/secrets.js';
import { startService } from '../../../src/bin/service.js';
import { loadSettings } from '../../../src/config/load.js';
import { connectDatabase } from '../../../src/models/database.js';
import { type ApiClient, apiClient, PURCHASE } from '../../support/api-client.js';
import { listed } from '../../support/parts/replays.js';
import { startServiceProcess } from '../../support/programs/process.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { TEST_PAYLOAD_KEYS } from '../../support/servers.js';
import { newAccount, SHORT_WAITS, startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const [FRESH = '', OLD = ''] = TEST_PAYLOAD_KEYS;

describe('payload keys [world]', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    // Before a rotation: the new key is known to all processes, and the old one still encrypts.
    system = await startSystem({
      HOOKLINE_PAYLOAD_KEYS: `${OLD},${FRESH}`,
      ...SHORT_WAITS,
    });
    receiver = await startReceiver();
    client = await system.account();
    await client.register(receiver.url);
  });
  after(async () => {
    await system.stop();
    await receiver.close();
  });

  it('are rotated under load: what the old one wrapped is read, and wrapped with the new one', async () => {
    const before = await client.purchase();
    const settings = loadSettings({ ...system.environment, HOOKLINE_PAYLOAD_KEYS: `${FRESH},${OLD}` });
    const rotated = await startService(settings, 'all', pino({ level: 'silent' }));
    const throughRotated = apiClient(rotated.url, client);
    try {
      // As a client of the API: what a busy machine refuses with 503 is sent again with its key.
      const post = (index: number) =>
        until(
          () =>
            (index % 2 === 0 ? client : throughRotated).request('POST', '/v18.0/events/purchase', {
              raw: PURCHASE,
              headers: { 'idempotency-key': `under-load-${index}` },
            }),
          ({ status }) => status !== 503,
        );
      const accepted = await Promise.all(Array.from({ length: 40 }, (_, index) => post(index)));
      for (const { status, json, text } of accepted) {
        assert.equal(status, 202, text);
        await throughRotated.deliveryUntil(json.deliveries[0].id, (one) => one.status === 'delivered');
      }
      const database = await connectDatabase(settings.MONGODB_URI ?? '', requireBoxes(settings));
      assert.ok((await database.dataKeys.resealAll()) > 0, 'data keys are wrapped with the new key');
      assert.equal(await database.dataKeys.resealAll(), 0);
      await database.close();
      const { json } = await throughRotated.request('GET', `/v18.0/events/${before.id}`);
      assert.deepEqual(json.payload, JSON.parse(PURCHASE));
    } finally {
      await rotated.stop();
    }
  });

  it('of events are erased for a whole account, however many there are, and for no other', async () => {
    const { dataKeys } = system.database;
    // More than are deleted at once.
    const subjects = Array.from({ length: 510 }, (_, index) => `subject-${index}`);
    const [leaver, stayer] = [await system.account(), await system.account()];
    const own = await dataKeys.obtain(leaver.accountId);
    await Promise.all(subjects.map((subject) => dataKeys.obtain(leaver.accountId, subject)));
    const kept = await dataKeys.obtain(stayer.accountId, subjects[0]);
    assert.equal(await dataKeys.eraseAll(leaver.accountId), 511);
    assert.equal(await dataKeys.eraseAll(leaver.accountId), 0);
    assert.equal(await dataKeys.find(leaver.accountId, own.id), undefined);
    assert.equal(await dataKeys.ofSubject(leaver.accountId, subjects[509] ?? ''), undefined);
    assert.equal((await dataKeys.ofSubject(stayer.accountId, subjects[0] ?? ''))?.key_id, kept.id);
    assert.notEqual((await dataKeys.obtain(leaver.accountId)).id, own.id, 'nothing remembers the old one');
  });

  it('are deleted by an erasure whose process was killed half-way', async () => {
    // The key goes when the open delivery has ended; until then the erasure is half done.
    const environment = {
      ...system.environment,
      HOOKLINE_TASK_QUEUE: `${system.environment['HOOKLINE_TASK_QUEUE']}-k`,
    };
    const service = await startServiceProcess(environment);
    let own = await newAccount(system.database, service.url);
    await own.register(receiver.url);
    receiver.handle(reply(500));
    const event = await own.purchase();
    const id = event.deliveries[0]?.id ?? '';
    await listed(own, 'status=retrying', 1);
    const body = { subject: 'ada@example.com', open: 'finish' };
    const { status, json } = await own.request('POST', '/v18.0/subjects/erase', { body });
    assert.equal(status, 202);
    await service.kill();

    const heir = await startSystem(environment);
    own = apiClient(heir.url, own);
    try {
      receiver.handle(reply(200));
      // Until the worker is there, the answer may be 503.
      await until(
        async () => {
          await own.request('POST', `/v18.0/deliveries/${id}/retry`);
          return own.delivery(id);
        },
        ({ status }) => status === 'delivered',
      );
      await until(
        async () => (await own.request('GET', `/v18.0/erasures/${json.id}`)).json.erased_at as unknown,
        (at) => at !== undefined,
      );
      assert.equal((await own.request('GET', `/v18.0/events/${event.id}`)).json.payload, null);
      assert.equal((await own.delivery(id)).status, 'delivered');
    } finally {
      await heir.stop();
    }
  });
});
