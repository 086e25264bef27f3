import assert from 'node:assert/strict';
import { Hookline } from '../../../clients/typescript/src/index.js';
import { MAX_WAITS } from '../../../src/api/routes/feed/waits.js';
import { createdAt } from '../../../src/domain/basics/id-time.js';
import { positionsFrom } from '../../../src/domain/feed/feed.js';
import { MAX_CONSUMERS } from '../../../src/models/feed/feed-consumers.js';
import { type ApiClient, apiClient, PURCHASE } from '../../support/api-client.js';
import { runHere } from '../../support/programs/command.js';
import { startCommand } from '../../support/programs/process.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

interface Entry {
  position: string;
  id: string;
  sequence: number;
  payload: unknown;
}

describe('the feed', () => {
  let system: SharedSystem;
  let client: ApiClient;
  before(async () => {
    system = await sharedSystem();
  });
  beforeEach(async () => {
    client = await system.account();
  });

  const read = async (query = '', by = client) => {
    const { status, json, text } = await by.request('GET', `/v18.0/feed${query}`);
    assert.equal(status, 200, text);
    return {
      data: json.data as Entry[],
      ids: json.data.map(({ id }: Entry) => id),
      paging: json.paging,
      text,
    };
  };
  /** Posts purchases, and waits until the feed has them: an insert of unknown fate holds it up. */
  const purchases = async (totals: number[], headers = {}) => {
    const ids: string[] = [];
    for (const total of totals)
      ids.push((await client.purchase(JSON.stringify({ ...JSON.parse(PURCHASE), total }), headers)).id);
    await until(
      () => read(),
      (page) => page.ids.includes(ids.at(-1)),
    );
    return ids;
  };
  const environment = () => ({
    HOOKLINE_URL: system.url,
    HOOKLINE_API_KEY: client.key,
    HOOKLINE_DATA_DIR: 'none',
  });
  const put = (name: string, body: object) =>
    client.request('PUT', `/v18.0/feed/consumers/${name}`, { body });

  it('has the events of an account in one order, page after page, with payloads as they were sent', async () => {
    const payload = PURCHASE.replace('12.5', '12.50000000000000000001');
    const ids = [(await client.purchase(payload)).id, ...(await purchases([1, 2]))];
    const first = await read('?limit=2');
    assert.deepEqual(first.ids, ids.slice(0, 2));
    assert.ok(first.text.includes(`"payload":${payload}`));
    assert.ok(first.paging.next);
    const second = await read(first.paging.next.slice('/v18.0/feed'.length));
    assert.deepEqual([second.ids, second.paging.next], [ids.slice(2), undefined]);
    assert.deepEqual((await read(`?after=${second.paging.cursors.after}`)).data, []);
    const [text] = (await read('?limit=1&payload=text')).data;
    assert.equal(text?.payload, payload);
    const other = await system.account();
    assert.deepEqual((await read('', other)).data, []);
  });

  it('is read from an event, or from a time, and not from a time of which events may be gone', async () => {
    const ids = await purchases([1, 2]);
    const [, second] = (await read()).data;
    assert.deepEqual((await read(`?sequence=${second?.sequence}&limit=1`)).ids, ids.slice(1));
    assert.deepEqual((await read('?from=2026-01-01')).ids, ids);
    assert.deepEqual((await read('?from=2999-01-01')).ids, []);
    assert.equal((await client.request('GET', '/v18.0/feed?sequence=999')).status, 404);
    assert.equal((await client.request('GET', '/v18.0/feed?after=evt_1')).status, 400);
    const { status, json } = await client.request('GET', `/v18.0/feed?after=${positionsFrom(0)}`);
    assert.deepEqual([status, json.code], [410, 'feed_position_gone']);
    const [, named = ''] = /after=(\w+)/.exec(json.detail) ?? [];
    assert.deepEqual((await read(`?after=${named}`)).ids, ids);
  });

  it('has for an endpoint what it is registered for, and no tests', async () => {
    const ids = await purchases([1, 200, 3, 400]);
    const { id } = await client.register('https://example.com/', {
      filter: { path: '/total', at_least: 100 },
    });
    await client.request('POST', `/v18.0/endpoints/${id}/test`);
    assert.deepEqual((await read(`?endpoint=${id}`)).ids, [ids[1], ids[3]]);
    assert.deepEqual((await read(`?endpoint=${id}&limit=1`)).ids, [ids[1]]);
    // Its producer names another endpoint.
    const { id: named } = await client.register('https://example.com/named');
    const later = await purchases([500], { 'hookline-endpoints': named });
    assert.deepEqual((await read()).ids, [...ids, ...later]);
    assert.deepEqual((await read(`?endpoint=${named}`)).ids, [...ids, ...later]);
    assert.deepEqual((await read(`?endpoint=${id}`)).ids, [ids[1], ids[3]]);
    const other = await system.account();
    assert.equal((await other.request('GET', `/v18.0/feed?endpoint=${id}`)).status, 404);
  });

  it('keeps positions of consumers, each by its account, and only so many', async () => {
    const ids = await purchases([1, 2]);
    const [first] = (await read('?consumer=billing')).data;
    assert.equal(first?.id, ids[0]);
    assert.equal((await put('billing', { position: first?.position })).status, 200);
    assert.deepEqual((await read('?consumer=billing')).ids, ids.slice(1));
    await put('billing', { sequence: first?.sequence });
    assert.deepEqual((await read('?consumer=billing')).ids, ids);
    await put('billing', { from: '2999-01-01' });
    assert.deepEqual((await read('?consumer=billing')).ids, []);
    const other = await system.account();
    assert.equal((await other.request('GET', '/v18.0/feed/consumers/billing')).status, 404);
    for (let number = 1; number < MAX_CONSUMERS; number += 1)
      await system.database.feedConsumers.put(client.accountId, `c${number}`, '');
    const { status, json } = await put('one-more', {});
    assert.deepEqual([status, json.code], [409, 'feed_consumer_limit_reached']);
    assert.equal((await client.request('GET', '/v18.0/feed/consumers')).json.data.length, MAX_CONSUMERS);
    assert.equal((await client.request('DELETE', '/v18.0/feed/consumers/billing')).status, 204);
    assert.equal((await put('one-more', {})).status, 200);
    assert.equal((await put('no%20name', {})).status, 400);
  });

  it('lists the consumers of an account by name, with the time of their positions, and no others', async () => {
    const list = async (by: ApiClient) => (await by.request('GET', '/v18.0/feed/consumers')).json;
    assert.deepEqual(await list(client), { data: [], paging: { cursors: {} } });
    const [id = ''] = await purchases([1]);
    await put('warehouse.eu', { position: id.slice('evt_'.length) });
    await put('billing', {});
    await put('later', { from: '2999-01-01' });
    const { data } = await list(client);
    assert.deepEqual(
      data.map(({ name, up_to }: Record<string, string>) => [name, up_to]),
      [
        ['billing', undefined],
        ['later', '2999-01-01T00:00:00.000Z'],
        ['warehouse.eu', createdAt(id)],
      ],
    );
    const [, , last] = data;
    assert.deepEqual((await client.request('GET', '/v18.0/feed/consumers/warehouse.eu')).json, last);
    assert.deepEqual((await list(await system.account())).data, []);
    const without = await system.account(['events:write']);
    assert.equal((await without.request('GET', '/v18.0/feed/consumers')).status, 403);
    const path = `/v18.0/accounts/${client.accountId}/portal_sessions`;
    const { json } = await client.request('POST', path);
    const portal = apiClient(system.url, { accountId: client.accountId, key: json.token, keyId: json.id });
    const refused = await portal.request('GET', '/v18.0/feed/consumers');
    assert.equal(refused.json.code, 'portal_refused');
  });

  it('has commands that list consumers, move and delete them', async () => {
    const [, id = ''] = await purchases([1, 2]);
    const run = (...words: string[]) => runHere('feed', environment(), ['consumers', ...words]);
    assert.equal(await run(), 'No consumers.');
    await put('billing', {});
    assert.match(await run(), /^CONSUMER +READ UP TO .*\nbilling +nothing yet +[-\d: ]+$/);
    const { sequence } = (await read()).data[1] ?? {};
    assert.equal(await run('seek', 'billing', '--sequence', String(sequence)), 'Moved: billing');
    assert.deepEqual((await read('?consumer=billing')).ids, [id]);
    const events = await runHere('feed', environment(), ['--sequence', String(sequence)]);
    assert.match(events, new RegExp(`^.+ purchase +${id} +\\w+$`));
    assert.match(await run('seek', 'billing', '--from', '2h', '--json'), /^\{"name":"billing",/);
    assert.equal((await read('?consumer=billing')).ids.length, 2);
    await assert.rejects(run('seek', 'billing'), /where it continues/);
    await assert.rejects(run('seek', 'billing', '--sequence', 'x'), /must be the number of an event/);
    assert.equal(await run('delete', 'billing'), 'Deleted: billing');
    await assert.rejects(run('delete', 'billing'), /no feed consumer/i);
    await assert.rejects(runHere('feed', environment(), ['consumer']), /There is no action "consumer"/);
  });

  it('waits for an event, of so many requests of an account at once', async () => {
    const waiting = read('?wait=25');
    const [id] = await purchases([1]);
    assert.deepEqual((await waiting).ids, [id]);
    const { after } = (await waiting).paging.cursors;
    const others = Array.from({ length: MAX_WAITS.account + 1 }, () =>
      client.request('GET', `/v18.0/feed?after=${after}&wait=25`),
    );
    const { status, json } = await Promise.race(others);
    assert.deepEqual([status, json.code], [429, 'feed_wait_limit_reached']);
    await purchases([2]);
    const all = await Promise.all(others);
    assert.equal(
      all.filter((one) => one.status === 200 && one.json.data.length === 1).length,
      MAX_WAITS.account,
    );
  });

  it('shows erased payloads as erased, and what somebody has altered as altered', async () => {
    await purchases([1]);
    const body = { subject: 'ada@example.com' };
    await client.request('POST', '/v18.0/subjects/erase', { body });
    // On a busy machine the request has its response before the key is deleted.
    const { data } = await until(
      () => read(),
      (page) => page.data[0]?.payload === null,
    );
    const [erased] = data;
    assert.deepEqual(erased && { ...erased, position: '', id: '', created_at: '' }, {
      ...{ position: '', id: '', kind: 'purchase', created_at: '', sequence: 1, payload: null },
      payload_erased: true,
    });
  });

  it('is an iterator of the client, which commits what the loop has dealt with, and a command', async () => {
    const ids = await purchases([1, 2, 3]);
    const hookline = new Hookline({ url: system.url, token: client.key });
    const seen: string[] = [];
    for await (const { id } of hookline.feed({ consumer: 'billing' })) {
      seen.push(id);
      if (seen.length === 3) void purchases([4]);
      if (seen.length === 4) break;
    }
    assert.deepEqual(seen.slice(0, 3), ids);
    // The loop was left within the page of the fourth.
    assert.deepEqual((await read('?consumer=billing')).ids, seen.slice(3));
    const lines = (await runHere('feed', environment(), ['--json', '--limit', '2'])).split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).id),
      ids.slice(0, 2),
    );
  });

  it('is shown by a command as it goes on, until that is stopped [world]', async () => {
    const ids = await purchases([1, 2]);
    const { lines, exited, signal } = startCommand(['feed', '--follow', '--json'], environment());
    const shown = (count: number) =>
      until(
        () => lines.map((line) => JSON.parse(line).id),
        (all) => all.length === count,
      );
    assert.deepEqual(await shown(2), ids);
    ids.push(...(await purchases([3])));
    assert.deepEqual(await shown(3), ids);
    signal('SIGINT');
    assert.equal(await exited, 0, lines.join('\n'));
    assert.equal(lines.length, ids.length);
  });
});
