import assert from 'node:assert/strict';
import mongoose from 'mongoose';
import { OPERATOR_SCOPES } from '../../../src/domain/access/api-key.js';
import type { ApiClient } from '../../support/api-client.js';
import { newestChange, send } from '../../support/parts/changes.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { PROXIED, type SharedSystem, sharedSystem } from '../../support/system.js';

describe('an endpoint as of a time', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem(PROXIED);
    receiver = await startReceiver();
  });
  beforeEach(async () => {
    client = await system.account(OPERATOR_SCOPES);
  });
  after(() => receiver.close());

  it('is what it was then, also after it was deleted', async () => {
    const asOf = (id: string, time: string) =>
      client.request('GET', `/v18.0/endpoints/${id}?as_of=${encodeURIComponent(time)}`);
    const { id } = await client.register(receiver.url, { description: 'first' });
    const first = (await send(client, 'GET', `/endpoints/${id}`)).json;
    await send(client, 'PATCH', `/endpoints/${id}`, { description: 'second' });
    const second = (await send(client, 'GET', `/endpoints/${id}`)).json;
    await send(client, 'DELETE', `/endpoints/${id}`);
    const { at: deletedAt } = await newestChange(client, `endpoint:${id}`);
    const justBefore = (time: string) => new Date(Date.parse(time) - 1).toISOString();

    for (const [time, expected] of [
      [first.created_at, first],
      [justBefore(second.updated_at), first],
      [second.updated_at, second],
      [justBefore(deletedAt), second],
    ]) {
      const answer = await asOf(id, time);
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(answer.json, expected);
    }
    for (const time of [justBefore(first.created_at), deletedAt, new Date().toISOString()]) {
      const answer = await asOf(id, time);
      assert.equal(answer.status, 404);
      assert.match(answer.json.detail, /^The endpoint ep_\w+ did not exist at 2/);
    }
    const stranger = await system.account();
    for (const path of ['versions', `?as_of=${second.updated_at}`]) {
      const answer = await stranger.request(
        'GET',
        `/v18.0/endpoints/${id}${path.startsWith('?') ? '' : '/'}${path}`,
      );
      assert.equal(answer.status, 404);
      assert.equal(answer.json.detail, `There is no endpoint ${id}.`);
    }
    assert.equal((await asOf(id, 'yesterday')).status, 400);
  });

  it('is unknown, and not wrong, if the changes of that time are not kept any more', async () => {
    const mongo = await mongoose.createConnection(system.environment['MONGODB_URI'] ?? '').asPromise();
    try {
      const { id } = await client.register(receiver.url, { description: 'first' });
      const created = await newestChange(client, `endpoint:${id}`);
      await send(client, 'PATCH', `/endpoints/${id}`, { description: 'second' });
      const { at } = await newestChange(client, `endpoint:${id}`);
      const read = (time: string) => client.request('GET', `/v18.0/endpoints/${id}?as_of=${time}`);
      const earlier = new Date(Date.parse(created.at) - 1).toISOString();
      const changes = mongo.collection<{ _id: string; resource: string }>('changes');

      await changes.deleteOne({ _id: created.id });
      assert.equal((await read(created.at)).json.description, 'first', 'the next change says so');
      assert.match(
        (await read(earlier)).json.detail,
        /^What the endpoint \w+ was before \S+ is not kept any more/,
      );
      await changes.deleteMany({ resource: `endpoint:${id}` });
      assert.equal((await read(at)).json.description, 'second', 'it has not changed since');
      assert.equal((await read(created.at)).status, 404);
    } finally {
      await mongo.close();
    }
  });
});
