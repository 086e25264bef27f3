import assert from 'node:assert/strict';
import { pino } from 'pino';
import { requireBoxes } from '../../../src/bin/process/secrets.js';
import { startService } from '../../../src/bin/service.js';
import { loadSettings } from '../../../src/config/load.js';
import { connectDatabase } from '../../../src/models/database.js';
import { ENCRYPTED_ENCODING } from '../../../src/temporal/server/payload-codec.js';
import { type ApiClient, apiClient, PURCHASE } from '../../support/api-client.js';
import { listed } from '../../support/parts/replays.js';
import { startServiceProcess } from '../../support/programs/process.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { TEST_PAYLOAD_KEYS } from '../../support/servers.js';
import { newAccount, SHORT_WAITS, startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const [FRESH = '', OLD = ''] = TEST_PAYLOAD_KEYS;
const CODEC_TOKEN = 'codec-token-of-this-test-0123456789';
const UI = 'https://temporal.example.com';

describe('payload keys [world]', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    // Before a rotation: the new key is known to all processes, and the old one still encrypts.
    system = await startSystem({
      HOOKLINE_PAYLOAD_KEYS: `${OLD},${FRESH}`,
      ...SHORT_WAITS,
      HOOKLINE_CODEC_TOKEN: CODEC_TOKEN,
      HOOKLINE_CODEC_ORIGIN: UI,
    });
    receiver = await startReceiver();
    client = await system.account();
    await client.register(receiver.url);
  });
  after(async () => {
    await system.stop();
    await receiver.close();
  });

  /** The payload that a delivery was started with, as Temporal has it. */
  async function inputOf(deliveryId: string) {
    const { workflow_id } = await client.delivery(deliveryId);
    const { events } = await system.temporal.client.workflow.getHandle(workflow_id).fetchHistory();
    const [input] = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    const text = (name: string) => Buffer.from(input?.metadata?.[name] ?? []).toString();
    return { payload: input, encoding: text('encoding'), keyId: text('encryption-key-id') };
  }

  it('are rotated under load: what the old one encrypted is read, what is new has the new one', async () => {
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
      const later = await throughRotated.purchase();
      assert.equal((await inputOf(before.deliveries[0]?.id ?? '')).keyId, 'test2');
      const { keyId, encoding } = await inputOf(later.deliveries[0]?.id ?? '');
      assert.deepEqual([keyId, encoding], ['test1', ENCRYPTED_ENCODING]);

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

  describe('the codec server', () => {
    const ask = (way: string, body: unknown, headers: Record<string, string> = {}) =>
      fetch(`${system.url}/codec/${way}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${CODEC_TOKEN}`,
          'content-type': 'application/json',
          ...headers,
        },
        body: JSON.stringify(body),
      });

    it('decodes what Temporal has, for the configured origin and token alone', async () => {
      const event = await client.purchase();
      const { payload } = await inputOf(event.deliveries[0]?.id ?? '');
      const base64 = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString('base64');
      const metadata = Object.fromEntries(
        Object.entries(payload?.metadata ?? {}).map(([name, bytes]) => [name, base64(bytes)]),
      );
      const body = { payloads: [{ metadata, data: base64(payload?.data) }] };
      const answer = await ask('decode', body, { origin: UI, 'x-namespace': 'hookline' });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('access-control-allow-origin'), UI);
      const { payloads } = (await answer.json()) as typeof body;
      const text = Buffer.from(payloads[0]?.data ?? '', 'base64').toString();
      assert.match(text, /attempt_timeout_ms/);
      assert.ok(!text.includes('ada@example.com'), 'the payload of an event stays sealed');

      const encoded = (await (await ask('encode', { payloads })).json()) as typeof body;
      const again = (await (await ask('decode', encoded)).json()) as typeof body;
      assert.equal(Buffer.from(again.payloads[0]?.data ?? '', 'base64').toString(), text);

      assert.equal((await ask('decode', body, { authorization: 'Bearer wrong' })).status, 401);
      assert.equal((await ask('decode', body, { authorization: `Bearer ${client.key}` })).status, 401);
      const elsewhere = await ask('decode', body, { origin: 'https://evil.example.com' });
      assert.equal(elsewhere.status, 403);
      assert.equal(elsewhere.headers.get('access-control-allow-origin'), null);
      const altered = { payloads: [{ metadata, data: base64(Buffer.alloc(64)) }] };
      assert.equal((await ask('decode', altered)).status, 400);
    });

    it('is not there unless it is configured', async () => {
      const settings = loadSettings({ ...system.environment, HOOKLINE_CODEC_ORIGIN: '' });
      const service = await startService(settings, 'api', pino({ level: 'silent' }));
      try {
        const { status } = await fetch(`${service.url}/codec/decode`, { method: 'POST' });
        assert.equal(status, 404);
      } finally {
        await service.stop();
      }
    });
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
