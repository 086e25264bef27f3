import assert from 'node:assert/strict';
import { Webhook } from 'standardwebhooks';
import { PURCHASE } from '../../support/api-client.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

describe('a delivery', () => {
  let system: SharedSystem;
  let receiver: Receiver;

  before(async () => {
    system = await sharedSystem();
    receiver = await startReceiver();
  });
  after(() => receiver.close());

  it('arrives signed, and is recorded', async () => {
    const client = await system.account();
    const endpoint = await client.register(receiver.url, { retry_schedule: ['100ms', '100ms', '100ms'] });
    const event = await client.purchase();
    const [delivery] = event.deliveries;
    assert.ok(delivery);
    const [request] = await receiver.waitFor((all) =>
      all.some((one) => one.headers['webhook-id'] === event.id),
    );
    assert.ok(request);
    new Webhook(endpoint.secret).verify(request.body, request.headers);
    assert.equal(request.body.toString(), PURCHASE);
    const record = await client.deliveryUntil(delivery.id, ({ status }) => status === 'delivered');
    assert.equal(record.attempts.length, 1);
  });
});
