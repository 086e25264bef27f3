import { equal } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { newSecretKey, parseSecretKeys, SecretBox } from '../../../src/domain/access/secret-box.js';
import { newPass, RELAY_HEADER, RELAY_PATH, sealRelayed } from '../../../src/domain/listener/relay.js';
import { type ApiClient, apiClient } from '../../support/api-client.js';
import { connectListener, type TestListener } from '../../support/outside/listener.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('a listener whose stream another process holds than the worker', () => {
  let api: TestSystem;
  let worker: TestSystem;
  let client: ApiClient;
  let program: TestListener;
  let endpointId: string;
  before(async () => {
    api = await startSystem({}, 'api');
    worker = await startSystem(api.environment, 'worker');
    client = await api.account();
    const { json } = await client.request('POST', '/v18.0/listeners', { body: { event_kinds: ['*'] } });
    endpointId = json.id;
    program = await connectListener(client, endpointId);
    await until(
      () => api.database.listeners.holder(endpointId),
      (holder) => holder !== undefined,
    );
  });
  after(async () => {
    program.socket.close();
    await worker.stop();
    await api.stop();
  });

  it('receives its deliveries', async () => {
    const event = await client.purchase();
    const delivery = await client.deliveryUntil(
      event.deliveries[0]?.id ?? '',
      ({ status }) => status === 'delivered',
    );
    equal(delivery.attempts.length, 1);
    equal(program.deliveries[0]?.headers['webhook-id'], event.id);
  });

  it('takes them from nobody who lacks the key of the installation', async () => {
    const keys = parseSecretKeys(api.environment['HOOKLINE_SECRET_KEYS'] ?? '');
    const strange = new SecretBox(parseSecretKeys(newSecretKey()));
    const own = new SecretBox(keys);
    const forged = { headers: { 'webhook-id': randomUUID() }, body: '{}', timeout_ms: 1_000 };
    const send = async (box: SecretBox, pass: string | undefined) => {
      const response = await fetch(`${api.url}${RELAY_PATH}${endpointId}`, {
        method: 'POST',
        ...(pass !== undefined && { headers: { [RELAY_HEADER]: pass } }),
        body: sealRelayed(box, endpointId, 'request', forged),
      });
      return response.status;
    };
    const before = program.deliveries.length;
    equal(await send(strange, undefined), 404);
    equal(await send(strange, newPass(strange, endpointId, Date.now())), 404);
    equal(await send(own, newPass(own, endpointId, Date.now() - 60_000)), 404);
    equal(await send(own, newPass(own, 'ep_other', Date.now())), 404);
    equal(program.deliveries.length, before);
  });

  it('is found at the process to which its program connects again', async () => {
    const second = await startSystem(api.environment, 'api');
    program.socket.close();
    program = await connectListener(client, endpointId, undefined, second.url);
    const event = await apiClient(second.url, client).purchase();
    await client.deliveryUntil(event.deliveries[0]?.id ?? '', ({ status }) => status === 'delivered');
    equal(program.deliveries.at(-1)?.headers['webhook-id'], event.id);
    await second.stop();
    equal(await program.closed, 1_012);
  });
});
