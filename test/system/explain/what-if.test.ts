import assert from 'node:assert/strict';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { runHere } from '../../support/programs/command.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

describe('POST /what_if', () => {
  let system: SharedSystem;
  let client: ApiClient;
  let receiver: Receiver;
  before(async () => {
    system = await sharedSystem();
    receiver = await startReceiver();
    client = await system.account();
  });
  after(() => receiver.close());

  const purchase = async (total: number, by = client) =>
    (await by.purchase(JSON.stringify({ ...JSON.parse(PURCHASE), total }))).id;
  const ask = (body: object, by = client) => by.request('POST', '/v18.0/what_if', { body });

  it("counts an account's own events by what a new endpoint would have received, and sends nothing", async () => {
    const ids = [await purchase(50), await purchase(150), await purchase(250)];
    const own = await client.register(receiver.url, { event_kinds: ['endpoint.recovered'] });
    await client.purchase(PURCHASE, { 'hookline-endpoints': own.id });
    await client.request('POST', `/v18.0/endpoints/${own.id}/test`, { body: { event_kind: 'purchase' } });
    const other = await system.account();
    await purchase(150, other);
    const filter = { path: '/total', at_least: 100 };

    const { status, json, text } = await ask({
      event_kinds: ['purchase'],
      filter,
      retry_schedule: ['5s', '5m'],
    });
    assert.equal(status, 200, text);
    assert.deepEqual(json.deliveries, { count: 2, event_ids: ids.slice(1) });
    assert.deepEqual([json.left_out.filter.event_ids, json.left_out.named_endpoints.count], [[ids[0]], 1]);
    assert.deepEqual([json.events, json.complete, json.next], [4, true, undefined]);
    assert.deepEqual(json.by_kind, [{ event_kind: 'purchase', events: 4, deliveries: 2 }]);
    assert.deepEqual(
      json.attempts.map(({ after_ms }: { after_ms: number }) => after_ms),
      [0, 5_000, 305_000],
    );
    const none = await ask({ event_kinds: ['endpoint.failing'] });
    assert.deepEqual([none.json.deliveries.count, none.json.left_out.event_kind.count], [0, 3]);
    const of = await ask({ event_kinds: ['*'], filter }, other);
    assert.deepEqual([of.json.events, of.json.deliveries.count], [1, 1]);
    const event = await client.request('GET', `/v18.0/events/${ids[1]}`);
    assert.deepEqual(event.json.deliveries, []);

    const environment = { HOOKLINE_URL: system.url, HOOKLINE_API_KEY: client.key };
    const shown = await runHere('what-if', environment, [
      ...['--kinds', 'purchase', '--filter', JSON.stringify(filter), '--schedule', '5s,5m'],
    ]);
    assert.match(shown, /^2 of 4 events would have been delivered\.\n/);
    assert.match(shown, /1 do not match the filter\.\n/);
    assert.match(shown, /If every attempt fails, there are 3, the last 5m 5s after the first\./);
  });

  it('goes on behind a position, within the period only', async () => {
    const one = await system.account();
    const ids = [await purchase(1, one), await purchase(2, one)];
    const position = (await one.request('GET', '/v18.0/feed')).json.data[0]?.position ?? ids[0]?.slice(4);
    const rest = await ask({ event_kinds: ['*'], after: position }, one);
    assert.deepEqual(rest.json.deliveries.event_ids, ids.slice(1));
    const early = await ask(
      { event_kinds: ['*'], after: position, created_after: new Date(Date.now() + 60_000).toISOString() },
      one,
    );
    assert.equal(early.status, 400);
    const period = { created_after: '2026-11-01T00:00:00Z', created_before: '2026-11-02T00:00:00Z' };
    const past = await ask({ event_kinds: ['*'], ...period }, one);
    assert.deepEqual([past.json.events, past.json.complete], [0, true]);
  });

  it('says what is wrong with a question', async () => {
    for (const [body, pointer] of [
      [{ event_kinds: ['nosuchkind'] }, '/event_kinds/0'],
      [{ event_kinds: ['*'], filter: { path: 'total', equals: 1 } }, '/filter/path'],
      [{ event_kinds: ['*'], retry_schedule: ['5 s'] }, '/retry_schedule/0'],
      [{ event_kinds: ['*'], created_after: '2026-01-01', created_before: '2026-11-01' }, '/created_after'],
      [{ event_kinds: ['*'], after: 'evt_1' }, '/after'],
    ] as const) {
      const { status, json } = await ask(body);
      assert.deepEqual([status, json.errors?.[0]?.pointer], [400, pointer], JSON.stringify(json));
    }
    const stranger = await system.account(['events:write']);
    assert.equal((await ask({ event_kinds: ['*'] }, stranger)).status, 403);
  });
});
