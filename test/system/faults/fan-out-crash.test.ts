import assert from 'node:assert/strict';
import { registerDirectly } from '../../../bench/support/endpoints.js';
import { MAX_STARTED_AT_ONCE } from '../../../src/domain/delivery/delivery.js';
import { DeliveryReader } from '../../../src/temporal/read/delivery-reader.js';
import { apiClient } from '../../support/api-client.js';
import { startServiceProcess } from '../../support/programs/process.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { startSystem, type TestSystem } from '../../support/system.js';

/** More than are started before the event is answered. */
const ENDPOINTS = MAX_STARTED_AT_ONCE + 10;
const ANSWERED_BEFORE_THE_CRASH = 100;

describe(`a fan-out to ${ENDPOINTS} endpoints [world]`, () => {
  let system: TestSystem;
  let receiver: Receiver;

  before(async () => {
    system = await startSystem({}, 'api');
    receiver = await startReceiver({ tls: false });
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });

  it('survives the death of the process half-way: every endpoint gets the event, those in flight at most twice', async () => {
    const { accountId, key, keyId } = await system.account();
    const urls = Array.from({ length: ENDPOINTS }, (_, index) => `${receiver.url}/${index}`);
    await registerDirectly(system.database.endpoints, accountId, urls);
    receiver.handle((request, response, body) => {
      if (receiver.received.length <= ANSWERED_BEFORE_THE_CRASH) void reply(200)(request, response, body);
    });

    const doomed = await startServiceProcess(system.environment);
    const accepted = await apiClient(doomed.url, { accountId, key, keyId }).purchase();
    assert.equal(accepted.delivery_count, ENDPOINTS);
    await receiver.waitFor((all) => all.length > ANSWERED_BEFORE_THE_CRASH);
    await doomed.kill();

    const reader = new DeliveryReader({
      client: system.temporal.client,
      records: system.database.records,
      incidents: system.database.incidents,
    });
    const done = await reader.list(accountId, { statuses: ['delivered'] }, 100);
    const endpoints = (await system.database.endpoints.all(accountId)).map(({ id, target_url }) => ({
      id,
      path: new URL(target_url).pathname,
    }));
    const doneBefore = new Set(
      done.data.map(({ endpoint_id }) => endpoints.find(({ id }) => id === endpoint_id)?.path),
    );

    receiver.handle(reply(200));
    const heir = await startSystem(system.environment);
    try {
      const paths = () =>
        receiver.received.filter(({ answered }) => answered === 200).map(({ path }) => path);
      await receiver.waitFor(() => new Set(paths()).size === ENDPOINTS);
      for (const { path } of endpoints) {
        const told = receiver.received.filter((request) => request.path === path).length;
        assert.ok(told === 1 || told === 2, `${path} was told ${told} times`);
        if (told === 2) assert.ok(!doneBefore.has(path), `${path} had been done before`);
      }
    } finally {
      await heir.stop();
    }
  });
});
