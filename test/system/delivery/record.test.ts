import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { deliveryId } from '../../../src/domain/basics/delivery-id.js';
import { MAX_GROUP_SIZE } from '../../../src/domain/delivery/delivery.js';
import { type ApiClient, PURCHASE, registering } from '../../support/api-client.js';
import { executionOf, fetchHistory, toJson } from '../../support/history.js';
import { startGroup } from '../../support/parts/start-group.js';
import { inTurn, type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

/** Most bytes that a group of the largest size may take in Temporal. */
const MAX_HISTORY_BYTES = 10 * 1024;

describe('the record of a delivery', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem();
  });
  beforeEach(async () => {
    receiver = await startReceiver();
    client = registering(await system.account(), { retry_schedule: ['100ms', '100ms'] });
  });
  afterEach(() => receiver.close());

  it('keeps what was sent, where, and where the time went, also after the endpoint is deleted', async () => {
    receiver.handle(inTurn(reply(503, {}, 'try later'), reply(200, {}, 'ok')));
    const token = `token-${'t'.repeat(20)}`;
    const path = '/hooks/t%20enant?site=7';
    const endpoint = await client.register(`${receiver.url}${path}&key=${token}`, {
      headers: { 'x-token': token },
    });
    const event = await client.purchase();
    const id = event.deliveries[0]?.id ?? '';
    await client.deliveryUntil(id, ({ status }) => status === 'delivered');
    assert.equal((await client.request('DELETE', `/v18.0/endpoints/${endpoint.id}`)).status, 204);
    const delivery = await client.delivery(id);

    assert.equal(delivery.payload_sha256, createHash('sha256').update(PURCHASE).digest('hex'));
    assert.equal(delivery.payload_bytes, Buffer.byteLength(PURCHASE));
    const [first, second] = delivery.attempts;
    assert.ok(first && second && delivery.attempts.length === 2);
    for (const [index, attempt] of delivery.attempts.entries()) {
      assert.equal(attempt.url, `${receiver.url}${path}&key=[redacted]`);
      assert.equal(attempt.url_host, new URL(receiver.url).host);
      assert.equal(attempt.address, '127.0.0.1');
      assert.equal(attempt.endpoint_version, 1);
      assert.equal(String(attempt.webhook_timestamp), receiver.received[index]?.headers['webhook-timestamp']);
      assert.equal(attempt.request_bytes, receiver.received[index]?.body.length);
      const spent = Object.values(attempt.timings_ms ?? {}).reduce((sum, step) => sum + step, 0);
      assert.ok(spent <= attempt.duration_ms + 4, `${spent} of ${attempt.duration_ms} ms`);
    }
    assert.equal(first.response_bytes, 'try later'.length);
    assert.equal(second.response_bytes, 'ok'.length);
    assert.deepEqual(Object.keys(first.timings_ms ?? {}), ['dns', 'connect', 'tls', 'first_byte']);
    assert.deepEqual(Object.keys(second.timings_ms ?? {}), ['first_byte']);
    assert.ok(!toJson(await fetchHistory(system, delivery.workflow_id)).includes(token));
  });

  it('says how much of an answer was read, its digest, and how long the whole of it is', async () => {
    const mebibyte = 'x'.repeat(1_048_576);
    const read = mebibyte.slice(0, 16_384);
    receiver.handle(
      inTurn(
        reply(503, { 'content-length': String(mebibyte.length) }, mebibyte),
        reply(503, { 'transfer-encoding': 'chunked' }, mebibyte),
        reply(200, {}, 'ok'),
      ),
    );
    await client.register(receiver.url);
    const { deliveries } = await client.purchase();
    const { attempts } = await client.deliveryUntil(
      deliveries[0]?.id ?? '',
      ({ status }) => status === 'delivered',
    );
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    assert.deepEqual(
      attempts.map(({ response_bytes, response_sha256, response_cut, response_length }) => [
        response_bytes,
        response_sha256,
        response_cut,
        response_length,
      ]),
      [
        [16_384, sha256(read), true, 1_048_576],
        [16_384, sha256(read), true, undefined],
        [2, sha256('ok'), undefined, undefined],
      ],
    );
  });

  it(`takes less than 10 KiB of history for a group of ${MAX_GROUP_SIZE}, and is read all the same`, async () => {
    const { id: endpoint_id } = await client.register(`${receiver.url}/webhooks/hookline/orders`);
    const times = Array.from({ length: MAX_GROUP_SIZE }, () => Date.now());
    const { events } = await startGroup(system, client, endpoint_id, times);
    await receiver.waitFor(({ length }) => length === MAX_GROUP_SIZE);
    const id = deliveryId({ event_id: events[7]?.event_id ?? '', endpoint_id });
    const delivery = await client.deliveryUntil(id, ({ status }) => status === 'delivered');
    assert.equal(delivery.attempts[0]?.status_code, 200);
    assert.equal(delivery.payload_sha256, createHash('sha256').update(PURCHASE).digest('hex'));
    const group = await executionOf(system, delivery.workflow_id);
    assert.deepEqual(await group.result(), { delivered: MAX_GROUP_SIZE });
    const { historySize = 0 } = await group.describe();
    assert.ok(historySize > 0 && historySize < MAX_HISTORY_BYTES, `${historySize} bytes`);
  });
});
