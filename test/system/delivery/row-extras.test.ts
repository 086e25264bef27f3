import assert from 'node:assert/strict';
import type { ApiClient } from '../../support/api-client.js';
import { PURCHASE } from '../../support/api-client.js';
import { startGroup } from '../../support/parts/start-group.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

interface Row {
  id: string;
  event_id: string;
  endpoint_id: string;
  status: string;
  last_attempt?: { number: number; duration_ms?: number; status_code?: number };
  max_attempts?: number;
  business_keys?: { name: string; value: string }[];
}

describe('what a list of deliveries shows if it is asked to', () => {
  let system: SharedSystem;
  let client: ApiClient;
  let receiver: Receiver;
  before(async () => {
    system = await sharedSystem({ HOOKLINE_RETRY_SCHEDULE: '5s,5m,30m' });
    client = await system.account();
    receiver = await startReceiver({
      handler: (request, response, body) =>
        reply(request.url === '/fails' ? 503 : 204, { 'retry-after': '3000' })(request, response, body),
    });
  });
  after(() => receiver?.close());

  const list = async (query: string, by = client): Promise<Row[]> => {
    const { status, json, text } = await by.request('GET', `/v18.0/deliveries?${query}`);
    assert.equal(status, 200, text);
    return json.data;
  };
  const INCLUDE = 'include=last_attempt,business_keys';

  it('is how the latest attempt went, of how many, and the business keys; of its own account alone [world]', async () => {
    const good = await client.register(receiver.url);
    const failing = await client.register(`${receiver.url}/fails`);
    const brief = await client.register(`${receiver.url}/fails`, { retry_schedule: ['1h'] });
    const { id } = await client.purchase(PURCHASE.replace('order-1', 'order-77'));
    const rows = await until(
      () => list(`event_id=${id}&${INCLUDE}`),
      (found) => found.length === 3 && found.every(({ last_attempt }) => last_attempt !== undefined),
    );
    const of = (endpoint: { id: string }) => rows.find(({ endpoint_id }) => endpoint_id === endpoint.id);
    for (const [endpoint, status_code] of [
      [good, 204],
      [failing, 503],
    ] as const) {
      const { duration_ms, ...last } = of(endpoint)?.last_attempt ?? { number: 0 };
      assert.deepEqual(last, { number: 1, status_code });
      assert.ok(Number.isInteger(duration_ms));
    }
    assert.deepEqual(
      [good, failing, brief].map((endpoint) => of(endpoint)?.max_attempts),
      [undefined, 4, 2],
    );
    for (const { business_keys } of rows)
      assert.deepEqual(business_keys, [{ name: 'order_id', value: 'order-77' }]);

    // What is remembered says the same, and nothing is shown unasked.
    assert.deepEqual(await list(`event_id=${id}&${INCLUDE}`), rows);
    for (const row of await list(`event_id=${id}`))
      assert.ok(
        !('last_attempt' in row || 'business_keys' in row || 'max_attempts' in row || 'payload' in row),
      );
    assert.deepEqual(await list(`event_id=${id}&${INCLUDE}`, await system.account()), []);
    const wrong = await client.request('GET', '/v18.0/deliveries?include=payload');
    assert.equal(wrong.status, 400);
  });

  it('is each event’s own in a group', async () => {
    const tenant = await system.account();
    const endpoint = await tenant.register(receiver.url);
    let order = 0;
    const { events } = await startGroup(
      system,
      tenant,
      endpoint.id,
      [Date.now(), Date.now()],
      async (event) => {
        order += 1;
        return { ...event, payload: PURCHASE.replace('order-1', `grouped-${order}`) };
      },
    );
    const rows = await until(
      () => list(INCLUDE, tenant),
      (found) => found.length === 2 && found.every(({ status }) => status === 'delivered'),
    );
    const expected = new Map(events.map(({ event_id }, index) => [event_id, `grouped-${index + 1}`]));
    for (const { event_id, business_keys, last_attempt } of rows) {
      assert.deepEqual(business_keys, [{ name: 'order_id', value: expected.get(event_id) }]);
      assert.equal(last_attempt?.status_code, 204);
    }
  });
});
