import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import mongoose from 'mongoose';
import { deliveryWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import { connectDatabase } from '../../../src/models/database.js';
import { connectTemporal } from '../../../src/temporal/server/connection.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { type FreezingProxy, startFreezingProxy } from '../../support/outside/freezing-proxy.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { databaseIn, servers, temporalOfRun } from '../../support/servers.js';
import { newAccount, startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const KEY = { 'idempotency-key': 'order-1' };
/** Of the eight seconds that a request has, these go by before the start. Milliseconds. */
const SLOW_START_MS = 2_000;

describe('a start that Temporal has persisted, and whose confirmation fails [world]', () => {
  let system: TestSystem;
  let temporal: FreezingProxy;
  let mongodb: FreezingProxy;
  let client: ApiClient;
  let receiver: Receiver;
  let endpointId: string;
  let direct: mongoose.Connection;

  beforeEach(async () => {
    const { temporalAddress, mongodbUri } = servers();
    temporal = await startFreezingProxy(temporalAddress);
    mongodb = await startFreezingProxy(new URL(mongodbUri).host);
    receiver = await startReceiver();
    const name = `unconfirmed${Date.now()}`;
    system = await startSystem({
      TEMPORAL_ADDRESS: temporal.address,
      MONGODB_URI: `mongodb://${mongodb.address}/${name}`,
      HOOKLINE_GROUP_COMMIT: 'off',
    });
    const uri = databaseIn(mongodbUri, name);
    direct = await mongoose.createConnection(uri).asPromise();
    const database = await connectDatabase(uri);
    client = await newAccount(database, system.url);
    await database.close();
    endpointId = (await client.register(receiver.url)).id;
  });
  afterEach(async () => {
    temporal.thaw();
    mongodb.thaw();
    await direct.close();
    await system.stop();
    await temporal.close();
    await mongodb.close();
    await receiver.close();
  });

  const send = () => client.request('POST', '/v18.0/events/purchase', { raw: PURCHASE, headers: KEY });
  /** The idempotency record, read past the proxy. */
  const record = () =>
    direct.collection<{ _id: string; state: string; event_id: string }>('idempotency_records').findOne();
  const claimed = () => until(record, (found) => found !== null);
  /** How often the event has arrived. */
  const arrivals = (eventId: string) =>
    receiver.received.filter(({ headers }) => headers['webhook-id'] === eventId).length;

  it('answers 202, though MongoDB freezes before the key is confirmed; a repeat gets the same event', async () => {
    temporal.freeze();
    const sent = send();
    const { event_id } = (await claimed()) ?? assert.fail();
    mongodb.freeze();
    await delay(SLOW_START_MS);
    temporal.thaw();
    const answer = await sent;
    assert.equal(answer.status, 202, answer.text);
    assert.equal(answer.json.id, event_id);
    assert.equal((await record())?.state, 'pending');

    mongodb.thaw();
    const repeat = await until(send, ({ status }) => status !== 503);
    assert.deepEqual([repeat.status, repeat.json.id], [202, event_id]);
    await until(record, (found) => found?.state === 'confirmed');
    await receiver.waitFor(() => arrivals(event_id) > 0);
    assert.equal(arrivals(event_id), 1);
  });

  it('answers 202, though the connection to Temporal breaks before Temporal has answered', async () => {
    temporal.freeze();
    const sent = send();
    const { event_id } = (await claimed()) ?? assert.fail();
    temporal.holdAnswers();
    const workflowId = deliveryWorkflowId(client.accountId, { event_id, endpoint_id: endpointId });
    const past = await connectTemporal(temporalOfRun());
    try {
      await until(
        () =>
          past.client.workflow
            .getHandle(workflowId)
            .describe()
            .then(
              () => true,
              () => false,
            ),
        (exists) => exists,
      );
    } finally {
      await past.close();
    }
    await temporal.cut();
    temporal.thaw();
    await temporal.restore();
    const answer = await sent;
    assert.equal(answer.status, 202, answer.text);
    assert.equal(answer.json.id, event_id);
    await receiver.waitFor(() => arrivals(event_id) > 0);
  });
});
