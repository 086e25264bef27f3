import assert from 'node:assert/strict';
import { ACCOUNT_SCOPES, PLATFORM_SCOPES, type Scope } from '../../../src/domain/access/api-key.js';
import type { Change } from '../../../src/domain/change/change.js';
import { type ApiClient, apiClient, PURCHASE } from '../../support/api-client.js';
import { recorded } from '../../support/parts/records.js';
import { startServiceProcess } from '../../support/programs/process.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { newAccount, SHORT_WAITS, startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** A customer of the platform, and what it has got: by the account's own key, and by the key of a person. */
interface Customer {
  id: string;
  client: ApiClient;
  deliveries: string[];
  events: string[];
}

describe('the deletion of an account with its payloads [world]', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let platform: ApiClient;
  let leaver: Customer;
  let later: Customer;
  let stayer: Customer;

  before(async () => {
    system = await startSystem(SHORT_WAITS);
    receiver = await startReceiver();
    platform = await system.account(PLATFORM_SCOPES);
    [leaver, later, stayer] = [await customer(), await customer(), await customer()];
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });

  async function customer(): Promise<Customer> {
    const { id } = (await platform.request('POST', '/v18.0/accounts', { body: { name: 'x' } })).json;
    const body = { name: 'own', scopes: ACCOUNT_SCOPES };
    const { json } = await platform.request('POST', '/v18.0/api_keys', { body, headers: as(id) });
    const client = apiClient(system.url, { accountId: id, key: json.key, keyId: json.id });
    const endpoint = await client.register(receiver.url);
    const ofPerson = await client.purchase(PURCHASE);
    const ofNobody = await client.request('POST', `/v18.0/endpoints/${endpoint.id}/test`);
    const events = [ofPerson.id, ofNobody.json.id as string];
    const deliveries = await Promise.all(
      events.map(async (event) => {
        const { json } = await client.request('GET', `/v18.0/deliveries?event_id=${event}`);
        return json.data[0]?.id ?? assert.fail();
      }),
    );
    for (const one of deliveries)
      await client.deliveryUntil(
        one,
        ({ status, attempts }) => status === 'delivered' && attempts.length > 0,
      );
    await recorded(system, client, deliveries.slice(0, 1));
    return { id, client, deliveries, events };
  }
  const as = (account: string) => ({ 'hookline-account': account });
  const read = async (id: string) => (await platform.request('GET', `/v18.0/accounts/${id}`)).json;
  const remove = (id: string, query = '', by = platform) =>
    by.request('DELETE', `/v18.0/accounts/${id}${query}`);
  /** As the platform reads them. */
  const payloads = ({ id, events }: Customer) =>
    Promise.all(
      events.map(async (event) => {
        const { json } = await platform.request('GET', `/v18.0/events/${event}`, { headers: as(id) });
        return { isThere: json.payload !== null, isErased: json.payload_erased === true };
      }),
    );
  const GONE = { isThere: false, isErased: true };
  const THERE = { isThere: true, isErased: false };

  it('is refused to who may not erase, to others, and for what is neither kept nor erased', async () => {
    const scopes = PLATFORM_SCOPES.filter((scope): scope is Scope => scope !== 'subjects:write');
    const { key, api_key } = await system.database.apiKeys.create(platform.accountId, 'no erasure', scopes, {
      actor: { type: 'operator', id: 'operator' },
    });
    const weak = apiClient(system.url, { accountId: platform.accountId, key, keyId: api_key.id });
    const refused = await remove(leaver.id, '?payloads=erase', weak);
    assert.deepEqual([refused.status, refused.json.code], [403, 'missing_scope']);
    assert.match(refused.json.detail, /subjects:write/);
    const another = await newAccount(system.database, system.url, PLATFORM_SCOPES);
    assert.equal((await remove(leaver.id, '?payloads=erase', another)).status, 404);
    assert.equal((await remove(leaver.id, '?payloads=erase', leaver.client)).status, 403);
    assert.equal((await remove(leaver.id, '?payloads=shred')).status, 400);
    assert.equal((await read(leaver.id)).status, 'active');
    assert.deepEqual(await payloads(leaver), [THERE, THERE]);
  });

  it('deletes its data keys in the end, survives the death of its process, and touches nothing of others', async () => {
    // The other process alone works on it from now on.
    await system.service.stop();
    const first = await startServiceProcess(system.environment);
    platform = { ...platform, ...movedTo(platform, first.url) };
    const deleted = await remove(leaver.id, '?payloads=erase');
    assert.equal(deleted.status, 202, deleted.text);
    assert.equal(deleted.json.deletion.keys_erased, 0);
    assert.ok(deleted.json.erasure_requested_at);
    assert.equal((await remove(leaver.id, '?payloads=erase')).status, 202, 'a repeat changes nothing');
    await until(
      () => read(leaver.id),
      ({ deletion }) => deletion?.keys_erased > 0,
    );
    await first.kill();

    const heir = await startSystem(system.environment);
    platform = { ...platform, ...movedTo(platform, heir.url) };
    try {
      await Promise.all([erasedAtOnce(), erasedLater()]);
    } finally {
      await heir.stop();
    }
  });

  async function erasedAtOnce(): Promise<void> {
    const { deletion } = await until(
      () => read(leaver.id),
      ({ status }) => status === 'deleted',
    );
    assert.deepEqual([deletion.stage, deletion.keys_erased], ['done', 2]);
    assert.deepEqual(await payloads(leaver), [GONE, GONE]);
    assert.deepEqual(await payloads(stayer), [THERE, THERE]);

    // What was not recorded yet is recorded, and no key is made for that.
    await recorded(system, leaver.client, leaver.deliveries);
    assert.equal(await system.database.dataKeys.eraseAll(leaver.id), 0);
    const from = new Date(Date.now() - 3_600_000).toISOString();
    const { text } = await platform.request('GET', `/v18.0/exports?from=${from}`, {
      headers: { ...as(leaver.id), accept: 'application/x-ndjson' },
    });
    assert.ok(leaver.deliveries.every((id) => text.includes(id)));
    assert.equal(text.split('"payload":null').length, 1 + leaver.events.length, text);
    assert.ok(!text.includes('ada@example.com'));
    const { json } = await platform.request('GET', `/v18.0/changes?resource=account:${leaver.id}`, {
      headers: as(leaver.id),
    });
    const [, begun] = json.data as Change[];
    assert.deepEqual([begun?.action, begun?.actor.id], ['deleted', platform.keyId]);
    assert.ok(begun?.changed.includes('/erasure_requested_at'), 'who asked for it is recorded');
  }

  /** Payloads that were kept can be erased later, but not while the deletion that keeps them is under way. */
  async function erasedLater(): Promise<void> {
    assert.equal((await remove(later.id)).status, 202);
    const early = await remove(later.id, '?payloads=erase');
    assert.deepEqual([early.status, early.json.code], [409, 'account_state_conflict']);
    const kept = await until(
      () => read(later.id),
      ({ status }) => status === 'deleted',
    );
    assert.equal(kept.deletion.keys_erased, undefined);
    assert.equal(kept.erasure_requested_at, undefined);
    assert.deepEqual(await payloads(later), [THERE, THERE]);

    // The execution of the deletion ends a moment after the account is deleted.
    const asked = await until(
      () => remove(later.id, '?payloads=erase'),
      ({ status }) => status !== 409,
    );
    assert.equal(asked.status, 202);
    const erased = await until(
      () => read(later.id),
      // Until its record has it: what is under way counts for itself.
      ({ version }) => version === kept.version + 2,
    );
    assert.deepEqual(erased.deletion, { ...kept.deletion, keys_erased: 2 });
    assert.equal(erased.deleted_at, kept.deleted_at);
    assert.deepEqual(await payloads(later), [GONE, GONE]);
    const { version } = await read(later.id);
    assert.equal(
      (await remove(later.id, '?payloads=erase')).json.version,
      version,
      'there is nothing more to do',
    );
  }

  const movedTo = ({ accountId, key, keyId }: ApiClient, url: string) =>
    apiClient(url, { accountId, key, keyId });
});
