import { ACCOUNT_SCOPES } from '../../src/domain/access/api-key.js';
import { OPERATOR } from '../../src/domain/change/change.js';
import { Tally } from '../../src/domain/stats/tally.js';
import { type ApiClient, apiClient, PURCHASE } from '../support/api-client.js';
import { type Handler, type Receiver, reply, startReceiver } from '../support/receiver.js';
import { SHORT_WAITS, startSystem, type TestSystem } from '../support/system.js';
import { until } from '../support/until.js';

/** A system in the middle of its day: what the pages show. */
export interface Stage {
  system: TestSystem;
  /** The subscriber's account. */
  shop: ApiClient;
  /** Another account, which must see nothing of it. */
  stranger: ApiClient;
  operator: ApiClient;
  healthy: Receiver;
  failing: Receiver;
  ids: { warehouse: string; loyalty: string; bookkeeping: string };
  stop(): Promise<void>;
}

const SHIPPED = {
  type: 'object',
  required: ['order_id', 'carrier'],
  properties: {
    order_id: { type: 'string', description: 'The order, as in purchase', 'x-hookline-key': true },
    carrier: { type: 'string', description: 'Who carries the parcel', examples: ['DHL'] },
    tracking_url: { type: 'string', format: 'uri', description: 'Where the parcel is followed' },
    parcels: { type: 'integer', minimum: 1, description: 'How many there are' },
  },
  examples: [{ order_id: 'order-1001', carrier: 'DHL', parcels: 1 }],
};

/** Answers the question whether the endpoint wants events; everything else is left to the handler. */
export function verified(handler: Handler): Handler {
  return (request, response, body) => {
    if (request.headers['webhook-event-kind'] !== 'endpoint.verification')
      return handler(request, response, body);
    const { challenge } = JSON.parse(body.toString()) as { challenge: string };
    response.end(challenge);
  };
}

/** Answers that nothing can be taken for an hour, so that no attempt is made by itself while a test looks. */
export function unavailable(text: string): Handler {
  return reply(503, { 'content-type': 'text/plain', 'retry-after': '3600' }, text);
}

const HOUR_MS = 3_600_000;

/** A purchase of an order. */
export const purchaseOf = (order: number) => PURCHASE.replace('order-1', `order-${order}`);

export async function startStage(): Promise<Stage> {
  const system = await startSystem({
    ...SHORT_WAITS,
    HOOKLINE_RETRY_SCHEDULE: '1h,2h',
    HOOKLINE_ENDPOINT_VERIFICATION: 'required',
    TEMPORAL_UI_URL: 'http://127.0.0.1:8233',
    // More than tests send.
    HOOKLINE_RATE_LIMIT_TOKEN: '60000/1m,600000/1h',
  });
  const [healthy, failing] = await Promise.all([
    startReceiver({
      handler: verified(reply(200, { 'content-type': 'application/json' }, '{"received":true}')),
    }),
    startReceiver({
      handler: verified(unavailable('Loyalty points are being counted, please wait.')),
    }),
  ]);
  const operations = await system.database.accounts.create('Operations', OPERATOR);
  const scopes = [...ACCOUNT_SCOPES, 'admin'] as const;
  const { key, api_key } = await system.database.apiKeys.create(
    operations.id,
    'Night shift',
    scopes,
    OPERATOR,
  );
  const operator = apiClient(system.url, { accountId: operations.id, key, keyId: api_key.id });
  const create = async (name: string) => {
    const { json } = await operator.request('POST', '/v18.0/accounts', { body: { name } });
    return apiClient(system.url, { accountId: json.id, key: json.api_key.key, keyId: json.api_key.id });
  };
  const shop = await create('Acme Shop');
  const stranger = await create('Birch Books');
  const register = async (url: string, more: Record<string, unknown>) => {
    const { id } = await shop.register(url, more);
    await until(
      async () => (await shop.request('GET', `/v18.0/endpoints/${id}`)).json,
      ({ status }) => status === 'active',
    );
    return id;
  };
  const [warehouse, loyalty, bookkeeping] = await Promise.all([
    register(`${healthy.url}/webhooks/orders`, { description: 'Warehouse', event_kinds: ['*'] }),
    register(`${failing.url}/hooks`, { description: 'Loyalty points' }),
    register(`${healthy.url}/books`, {
      description: 'Bookkeeping',
      filter: { path: '/total', at_least: 10 },
    }),
  ]);
  await shop.request('PATCH', `/v18.0/endpoints/${bookkeeping}`, {
    body: { status: 'paused', status_reason: 'Stock-taking until Monday.' },
  });
  await shop.request('POST', '/v18.0/event_kinds', {
    body: { name: 'order.shipped', description: 'A parcel has left the warehouse.', schema: SHIPPED },
  });
  await system.database.tallies.add(pastDay(shop.accountId, warehouse, loyalty));
  for (let order = 1001; order < 1005; order += 1) await shop.purchase(purchaseOf(order));
  return {
    system,
    shop,
    stranger,
    operator,
    healthy,
    failing,
    ids: { warehouse, loyalty, bookkeeping },
    async stop() {
      await system.stop();
      await healthy.close();
      await failing.close();
    },
  };
}

/** Counts of the hours before the system was started, for the charts. */
function pastDay(account_id: string, warehouse: string, loyalty: string) {
  const tally = new Tally();
  const base = { account_id, event_kind: 'purchase' };
  for (let hour = 1; hour < 24; hour += 1) {
    const at = Date.now() - hour * HOUR_MS;
    const busy = 20 + Math.round(14 * Math.sin(hour / 3.5));
    for (let count = 0; count < busy; count += 1) {
      tally.add({ ...base, endpoint_id: warehouse, status: 'delivered', attempts: 1 }, at);
      const status = hour < 4 && count % 3 === 0 ? 'exhausted' : 'delivered';
      tally.add({ ...base, endpoint_id: loyalty, status, attempts: 1 }, at);
    }
  }
  return tally.take().rows;
}
