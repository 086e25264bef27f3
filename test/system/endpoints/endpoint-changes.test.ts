import assert from 'node:assert/strict';
import { OPERATOR } from '../../../src/domain/change/change.js';
import { MASKED_VALUE } from '../../../src/domain/endpoint/endpoint-headers.js';
import type { ApiClient } from '../../support/api-client.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const SETTINGS = {
  event_kinds: ['purchase'],
  description: 'orders',
  metadata: { team: 'shop', tier: 'gold' },
  headers: { authorization: 'Bearer inner', 'x-tenant': 'seven' },
  filter: { path: '/total', at_least: 10 },
  rate_limit: 5,
  retry_schedule: ['1s', '5m'],
};

describe('changes of an endpoint', () => {
  let system: SharedSystem;
  let client: ApiClient;
  let receiver: Receiver;
  let path: string;

  before(async () => {
    system = await sharedSystem();
    receiver = await startReceiver();
  });
  beforeEach(async () => {
    client = await system.account();
    receiver.handle(reply(200));
    path = `/v18.0/endpoints/${(await client.register(receiver.url, SETTINGS)).id}`;
  });
  after(() => receiver.close());

  const show = async () => (await client.request('GET', path)).json;
  const patch = (body: unknown, type = 'application/merge-patch+json') =>
    client.request('PATCH', path, { body, headers: { 'content-type': type } });
  const changed = async (body: unknown) => {
    const { status, json, text } = await patch(body);
    assert.equal(status, 200, text);
    return json;
  };
  const act = async (action: 'pause' | 'resume') => {
    const { status, json, text } = await client.request('POST', `${path}/${action}`);
    assert.equal(status, 200, text);
    return json;
  };
  /** Fields that a change may not touch, besides those that it names. */
  const rest = ({ updated_at: _, version: __, ...shown }: Record<string, unknown>, ...names: string[]) =>
    Object.fromEntries(Object.entries(shown).filter(([name]) => !names.includes(name)));

  it('by PATCH keep what they do not name, as either media type', async () => {
    const before = await show();
    for (const type of ['application/merge-patch+json', 'application/json']) {
      const { status, json } = await patch({ description: type }, type);
      assert.equal(status, 200);
      assert.equal(json.description, type);
      assert.deepEqual(rest(json, 'description'), rest(before, 'description'));
    }
    assert.equal((await patch({ description: 'x' }, 'text/plain')).status, 415);
    assert.deepEqual(rest(await changed({}), 'description'), rest(before, 'description'));
  });

  it('by PATCH merge objects, remove what is null, and replace lists', async () => {
    const json = await changed({
      metadata: { tier: null, region: 'eu' },
      headers: { 'x-tenant': 'eight' },
      filter: { at_least: null, at_most: 20 },
      rate_limit: null,
      retry_schedule: ['2s'],
    });
    assert.deepEqual(json.metadata, { team: 'shop', region: 'eu' });
    assert.deepEqual(json.headers, { authorization: MASKED_VALUE, 'x-tenant': MASKED_VALUE });
    assert.deepEqual(json.filter, { path: '/total', at_most: 20 });
    assert.equal(json.rate_limit, undefined);
    assert.deepEqual(json.retry_schedule, ['2s']);
    await client.purchase();
    const [request] = (await receiver.waitFor((all) => all.length > 0)).slice(-1);
    assert.equal(request?.headers['authorization'], 'Bearer inner');
    assert.equal(request?.headers['x-tenant'], 'eight');
    assert.deepEqual(rest(await changed({ filter: null }), 'filter'), rest(json, 'filter'));
  });

  it('by PATCH are checked as a whole, with every wrong field named', async () => {
    const before = await show();
    const refused: [object, string][] = [
      [{ target_url: 'https://10.0.0.1/' }, '/target_url'],
      [{ target_url: null }, '/target_url'],
      [{ event_kinds: [] }, '/event_kinds'],
      [{ filter: { equals: 3 } }, '/filter'],
      [{ headers: { host: 'x' } }, '/headers/host'],
      [{ headers: { 'x-new': MASKED_VALUE } }, '/headers/x-new'],
      [{ status: 'disabled' }, '/status'],
      [{ status_reason: 'not paused' }, '/status_reason'],
    ];
    for (const [body, pointer] of refused) {
      const { status, json, text } = await patch(body);
      assert.equal(status, 400, text);
      assert.ok(
        json.errors.some((error: { pointer: string }) => error.pointer === pointer),
        text,
      );
    }
    assert.equal((await patch({ targetUrl: 'x' })).status, 400);
    assert.equal((await patch([])).status, 400);
    assert.deepEqual(await show(), before);
  });

  it('at the same time are all made, one after another', async () => {
    const changes = [{ description: 'a' }, { rate_limit: 7 }, { metadata: { b: 'c' } }, { status: 'paused' }];
    const names = Array.from({ length: 12 }, (_, at) => `name-${at}`);
    await Promise.all([...changes, ...names.map((name) => ({ metadata: { [name]: 'x' } }))].map(changed));
    const { description, rate_limit, metadata, status } = await show();
    assert.deepEqual([description, rate_limit, metadata.b, status], ['a', 7, 'c', 'paused']);
    assert.deepEqual(
      names.filter((name) => metadata[name] !== 'x'),
      [],
    );
  });

  it('pause and resume it, and nothing else', async () => {
    const before = await show();
    const paused = await act('pause');
    assert.equal(paused.status, 'paused');
    assert.deepEqual(
      rest(paused, 'status', 'status_changed_at'),
      rest(before, 'status', 'status_changed_at'),
    );
    const [delivery] = (await client.purchase()).deliveries;
    await client.deliveryUntil(delivery?.id ?? '', ({ status }) => status === 'parked');
    assert.equal((await act('resume')).status, 'active');
    await client.deliveryUntil(delivery?.id ?? '', ({ status }) => status === 'delivered');
  });

  it('resume it again where an earlier request was cut off before what is parked was released', async () => {
    await act('pause');
    const [delivery] = (await client.purchase()).deliveries;
    await client.deliveryUntil(delivery?.id ?? '', ({ status }) => status === 'parked');
    const { endpoints } = system.database;
    const paused = (await endpoints.find(path.split('/').at(-1) ?? '')) ?? assert.fail();
    const { target_url, event_kinds, description, metadata, verification_method } = paused;
    const active = { status: 'active', status_when_verified: 'active' } as const;
    const settings = { target_url, event_kinds, description, metadata, verification_method, headers: {} };
    await endpoints.replace(paused, { ...settings, ...active }, OPERATOR);
    assert.equal((await act('resume')).status, 'active');
    await client.deliveryUntil(delivery?.id ?? '', ({ status }) => status === 'delivered');
  });

  it('delete it again where an earlier request was cut off before what is parked was released', async () => {
    await act('pause');
    const [delivery] = (await client.purchase()).deliveries;
    await client.deliveryUntil(delivery?.id ?? '', ({ status }) => status === 'parked');
    const { endpoints } = system.database;
    const id = path.split('/').at(-1) ?? '';
    await endpoints.delete(client.accountId, id, OPERATOR);
    const stranger = await system.account();
    const answers = [await stranger.request('DELETE', path), await client.request('DELETE', path)];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [404, 404],
    );
    await client.deliveryUntil(delivery?.id ?? '', ({ status }) => status === 'cancelled');
  });

  it('keep a reason while it is paused, and drop it when it is resumed', async () => {
    await changed({ status: 'paused', status_reason: 'We move house.' });
    assert.equal((await changed({ description: 'x' })).status_reason, 'We move house.');
    assert.equal((await act('resume')).status_reason, undefined);
  });

  it('leave a disabled endpoint disabled, with its reason, until it is resumed', async () => {
    receiver.handle(reply(410));
    await client.purchase();
    const disabled = await until(show, ({ status }) => status === 'disabled');
    const renamed = await changed({ description: 'still disabled' });
    assert.deepEqual([renamed.status, renamed.status_reason], ['disabled', disabled.status_reason]);
    assert.equal(renamed.status_changed_at, disabled.status_changed_at);
    assert.equal((await act('resume')).status, 'active');
  });

  it('are refused for an endpoint of another account', async () => {
    const stranger = await system.account();
    for (const [method, action] of [
      ['PATCH', ''],
      ['POST', '/pause'],
      ['POST', '/resume'],
    ] as const) {
      const answer = await stranger.request(method, path + action, method === 'PATCH' ? { body: {} } : {});
      assert.equal(answer.status, 404);
    }
  });
});

describe('a target URL', () => {
  let system: SharedSystem;
  let client: ApiClient;
  before(async () => {
    system = await sharedSystem({ HOOKLINE_ALLOWED_NETWORKS: '' });
    client = await system.account();
  });

  const register = (target_url: string) =>
    client.request('POST', '/v18.0/endpoints', { body: { target_url, event_kinds: ['purchase'] } });

  it('is shown and called in the form that the URL standard gives it', async () => {
    const forms = {
      'HTTPS://Example.COM:443/a/../b?c=d e': 'https://example.com/b?c=d%20e',
      'https://example.com\\@internal.example/': 'https://example.com/@internal.example/',
      'https://bücher.example': 'https://xn--bcher-kva.example/',
    };
    for (const [given, stored] of Object.entries(forms)) {
      const { status, json, text } = await register(given);
      assert.equal(status, 201, text);
      assert.equal(json.target_url, stored);
    }
  });

  it('has no control characters', async () => {
    for (const character of ['\r', '\n', '\t', '\0', '\x7f', '\x85']) {
      const { status, json } = await register(`https://example.com/a${character}b`);
      assert.equal(status, 400);
      assert.match(json.errors[0].detail, /control characters/);
    }
  });

  it('is refused with the setting named that would allow it', async () => {
    const refused = {
      'http://localhost:8080/': /HOOKLINE_ALLOW_HTTP/,
      'https://localhost/': /HOOKLINE_ALLOWED_NETWORKS/,
      'https://127.0.0.1/': /HOOKLINE_ALLOWED_NETWORKS/,
      'https://intranet/': /HOOKLINE_ALLOWED_NETWORKS/,
    };
    for (const [url, detail] of Object.entries(refused)) {
      const { status, json } = await register(url);
      assert.equal(status, 400);
      assert.match(json.errors[0].detail, detail);
    }
  });
});
