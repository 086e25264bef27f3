import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import type { ApiClient } from '../../support/api-client.js';
import { recorded } from '../../support/parts/records.js';
import { runHere } from '../../support/programs/command.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { startSystem, type TestSystem } from '../../support/system.js';

describe('what is recorded', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let client: ApiClient;
  const ids: string[] = [];
  const from = new Date(Date.now() - 60_000).toISOString();

  before(async () => {
    system = await startSystem();
    // With receipts, whose commitments the records have.
    receiver = await startReceiver({ handler: reply(200, { 'webhook-receipt': 'v1,signed' }) });
    client = await system.account();
    const { id: endpoint } = await client.register(`${receiver.url}/a`);
    await client.register(`${receiver.url}/b`);
    for (let number = 0; number < 3; number++) {
      const { deliveries } = await client.purchase();
      for (const { id } of deliveries) {
        ids.push(id);
        await client.deliveryUntil(id, ({ status }) => status === 'delivered');
      }
      // A change behind each event.
      const body = { description: `after ${number}` };
      assert.equal((await client.request('PATCH', `/v18.0/endpoints/${endpoint}`, { body })).status, 200);
    }
    await recorded(system, client, ids);
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });

  const fetchExport = (query: string, by = client) =>
    by.request('GET', `/v18.0/exports?from=${from}${query}`, { headers: { accept: 'application/x-ndjson' } });
  const linesOf = (text: string) => text.split('\n').filter(Boolean);

  it('is exported line by line, each event before its deliveries, and to nobody else', async () => {
    const { status, text, headers } = await fetchExport('');
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'application/x-ndjson');
    const lines = linesOf(text).map((line) => JSON.parse(line));
    assert.deepEqual(
      lines.map(({ type }) => type),
      ['event', 'delivery', 'delivery', 'event', 'delivery', 'delivery', 'event', 'delivery', 'delivery'],
    );
    const deliveries = lines.filter(({ type }) => type === 'delivery');
    assert.deepEqual(deliveries.map(({ delivery }) => delivery.id).sort(), [...ids].sort());
    for (const { delivery, record } of deliveries) {
      assert.deepEqual(delivery, await client.delivery(delivery.id));
      assert.equal(record.delivery_id, delivery.id);
    }
    for (const { id, payload } of lines.filter(({ type }) => type === 'event'))
      assert.deepEqual(payload, (await client.request('GET', `/v18.0/events/${id}`)).json.payload);
    const plain = { headers: { accept: 'text/plain' } };
    const asText = await client.request('GET', `/v18.0/exports?from=${from}`, plain);
    assert.deepEqual([asText.headers.get('content-type'), asText.text], ['text/plain; charset=utf-8', text]);
    assert.equal((await fetchExport('', await system.account())).text, '');
    const none = await system.account(['events:write']);
    assert.equal((await fetchExport('', none)).status, 403);
  });

  it('is exported for a period alone', async () => {
    const lines = linesOf((await fetchExport('')).text).map((line) => JSON.parse(line));
    const [, second] = lines.filter(({ type }) => type === 'event');
    const until = await fetchExport(`&to=${second.created_at}`);
    assert.deepEqual(linesOf(until.text).length, 3);
    for (const query of [
      '&to=2020-01-01',
      '&after=evt_x',
      '&after=chg_x',
      '&format=csv',
      '&include=secrets',
      '&payload=xml',
    ])
      assert.equal((await fetchExport(query)).status, 400, query);
  });

  it('is exported with who changed what, by time, to whoever may read that', async () => {
    const { status, text } = await fetchExport('&include=changes');
    assert.equal(status, 200, text);
    const lines = linesOf(text).map((line) => JSON.parse(line));
    const changes = lines.filter(({ type }) => type === 'change');
    const list = await client.request('GET', '/v18.0/changes?limit=100');
    // Names of actors are what they are called now, and no part of what was recorded.
    const recorded = list.json.data.map(
      ({ actor: { name: _, ...actor }, ...change }: { actor: { name: string } }) => ({
        ...change,
        actor,
      }),
    );
    assert.deepEqual(changes.map(({ change }) => change).reverse(), recorded);
    for (const { change, record } of changes) {
      const { json } = await client.request('GET', `/v18.0/changes/${change.id}/certificate`);
      assert.deepEqual(record, json.record, 'what the log has a leaf of');
    }
    const places = lines.filter(({ type }) => type !== 'delivery').map(({ after }) => after.split('_')[1]);
    assert.deepEqual(places, [...places].sort());
    assert.deepEqual(
      linesOf(text).filter((line) => !line.startsWith('{"type":"change"')),
      linesOf((await fetchExport('')).text),
    );

    const end = changes.at(-1).change.at;
    const earlier = linesOf((await fetchExport(`&include=changes&to=${end}`)).text);
    assert.deepEqual(
      earlier.map((line) => JSON.parse(line)),
      lines.filter(
        ({ change, created_at, delivery }) => (change?.at ?? created_at ?? delivery.created_at) < end,
      ),
    );

    const stranger = await fetchExport('&include=changes', await system.account());
    assert.ok(linesOf(stranger.text).length > 0);
    const { accountId } = client;
    assert.ok(!stranger.text.includes(accountId), 'of an account of its own');
    const reader = await system.account(['deliveries:read']);
    const refused = await fetchExport('&include=changes', reader);
    assert.equal(refused.status, 403);
    assert.equal(refused.json.code, 'missing_scope');
    assert.match(refused.headers.get('www-authenticate') ?? '', /scope="changes:read"/);
    assert.equal((await fetchExport('', reader)).status, 200);
    const auditor = await system.account(['changes:read']);
    assert.equal((await fetchExport('&include=changes', auditor)).status, 403);
  });

  for (const include of ['', '&include=changes'])
    it(`is exported to the same bytes${include && ' with changes'}, wherever an export is continued, also when it was cut off`, async () => {
      const query = `&to=${new Date().toISOString()}${include}`;
      const whole = (await fetchExport(query)).text;
      const lines = linesOf(whole);
      assert.ok(lines.length > (include ? 9 : 8));
      for (const [index, line] of lines.entries()) {
        const { after } = JSON.parse(line);
        const rest = (await fetchExport(`${query}&after=${after}`)).text;
        assert.equal(`${lines.slice(0, index + 1).join('\n')}\n${rest}`, whole);
      }
      const compressed = await rawRequest(`/v18.0/exports?from=${from}${query}`);
      assert.equal(gunzipSync(compressed).toString(), whole);
    });

  it('is exported with payloads as strings, if they are asked for as text', async () => {
    const [lines, plain] = [
      linesOf((await fetchExport('&payload=text')).text),
      linesOf((await fetchExport('')).text),
    ];
    assert.equal(lines.length, plain.length);
    for (const [index, text] of lines.entries()) {
      const line = JSON.parse(text);
      const { type, payload } = JSON.parse(plain[index] ?? '');
      if (type === 'event') assert.deepEqual(JSON.parse(line.payload), payload);
      else assert.equal(text, plain[index]);
    }
  });

  it('is exported by the command line', async () => {
    const environment = { HOOKLINE_URL: system.url, HOOKLINE_API_KEY: client.key };
    const args = ['--from', from, '--format', 'ndjson'];
    assert.equal(await runHere('export', environment, args), (await fetchExport('')).text.trim());
    assert.equal(
      await runHere('export', environment, [...args, '--payload', 'text']),
      (await fetchExport('&payload=text')).text.trim(),
    );
    assert.equal(
      await runHere('export', environment, [...args, '--changes']),
      (await fetchExport('&include=changes')).text.trim(),
    );
  });

  /** The body as it comes over the wire: `fetch` decompresses it. */
  async function rawRequest(path: string): Promise<Buffer> {
    const { hostname, port } = new URL(system.url);
    const socket = connect(Number(port), hostname);
    const lines = [
      `GET ${path} HTTP/1.0`,
      `host: ${hostname}`,
      `authorization: Bearer ${client.key}`,
      'accept-encoding: gzip',
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    const answer = Buffer.concat(chunks);
    return answer.subarray(answer.indexOf('\r\n\r\n') + 4);
  }
});
