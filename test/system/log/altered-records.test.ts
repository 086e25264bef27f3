import assert from 'node:assert/strict';
import mongoose, { type Connection } from 'mongoose';
import type { Change } from '../../../src/domain/change/change.js';
import { type Certificate, verifyCertificate } from '../../../src/domain/log/certificate.js';
import { keyIdOf } from '../../../src/domain/privacy/data-key.js';
import { committedRecord } from '../../../src/domain/records/commitments.js';
import { canonicalJson } from '../../../src/domain/records/record.js';
import type { DeliveryRow } from '../../../src/domain/records/stored.js';
import type { ApiClient } from '../../support/api-client.js';
import { newestChange, send } from '../../support/parts/changes.js';
import { recorded, runRecords } from '../../support/parts/records.js';
import { runHere } from '../../support/programs/command.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

type Stored = { _id: string; detail?: string } & Record<string, string | null>;

/** A part of what is stored, with other words in it. */
type Forgery = [part: 'detail' | 'timeline' | 'summary' | 'record' | 'status', from: string, to: string];

/** Forgeries that somebody who has the database alone could write. */
const FORGERIES: Record<string, Forgery> = {
  'the URL of an attempt': ['detail', '/hooks', '/other'],
  'the address that it went to': ['detail', '"address":"', '"address":"10.0.0.1","was":"'],
  'a header of the answer': ['detail', '"server":"subscriber"', '"server":"somebody"'],
  'the text of the answer': ['detail', 'out of stock', 'thank you'],
  'the digest of the answer': ['detail', '"response_sha256":"', '"response_sha256":"00'],
  'the status of the answer': ['detail', '"status_code":200', '"status_code":204'],
  'the timeline': ['timeline', 'got a 200 response', 'got a 500 response'],
  'a time in the record': ['record', '"duration_ms":', '"duration_ms":1'],
  'the format of the record': ['record', '"format":2', '"format":1'],
  'the reason in lists': ['summary', 'The endpoint', 'Nobody'],
  'the status that lists are filtered by': ['status', 'delivered', 'exhausted'],
};

// A system of its own: `hookline records verify` reads all records.
describe('a record that somebody has altered in the database', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let client: ApiClient;
  let connection: Connection;
  /** Their records are in the log. */
  let gone = '';
  let held = '';

  const documents = () => connection.collection<Stored>('deliveries');
  const stored = async (id: string) => (await documents().findOne({ _id: id })) ?? assert.fail();
  const get = (path: string) => client.request('GET', `/v18.0${path}`);
  const exported = async () => {
    const { text } = await get(`/exports?from=${new Date(Date.now() - 3_600_000).toISOString()}`);
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  };
  const verifyRecords = () =>
    runHere('records', system.environment, ['verify']).then(
      (output) => ({ code: 0, output }),
      ({ code, stdout }: { code: number; stdout: string }) => ({ code, output: stdout }),
    );

  /** Does it to a delivery. @returns undoes it */
  const forge = async (id: string, [part, from, to]: Forgery) => {
    const document = await stored(id);
    const text = document[part] ?? '';
    const { account_id: accountId = '', event_id: eventId = '' } = document as Record<string, string>;
    const isSealed = part === 'detail' || part === 'timeline';
    const opened = isSealed ? ((await system.sealer.open({ accountId, eventId }, text)) ?? '') : text;
    assert.ok(opened.includes(from), `${part} has ${from}: ${opened}`);
    const forged = opened.replace(from, to);
    // Nobody without the key can seal it, and a text may stand there as it is.
    const written = isSealed ? `p1.${keyIdOf(text)}.${forged}` : forged;
    await documents().updateOne({ _id: id }, { $set: { [part]: written } });
    return () => documents().updateOne({ _id: id }, { $set: { [part]: text } });
  };

  before(async () => {
    system = await startSystem();
    connection = await mongoose.createConnection(system.environment['MONGODB_URI'] ?? '').asPromise();
    receiver = await startReceiver({ handler: reply(200, { server: 'subscriber' }, 'out of stock') });
    client = await system.account();
    await client.register(`${receiver.url}/hooks`);
    const ids: string[] = [];
    for (let number = 0; number < 2; number++) {
      const [{ id = '' } = {}] = (await client.purchase()).deliveries;
      await client.deliveryUntil(id, ({ status }) => status === 'delivered');
      ids.push(id);
    }
    [gone = '', held = ''] = ids;
    await recorded(system, client, ids);
  });
  after(async () => {
    await connection.close();
    await receiver.close();
    await system.stop();
  });

  it('is what every view shows as long as nobody does', async () => {
    assert.equal((await get(`/deliveries/${gone}`)).json.attempts[0].response_snippet, 'out of stock');
    assert.deepEqual(
      (await exported()).map(({ type }) => type),
      ['event', 'delivery', 'event', 'delivery'],
    );
    const { output } = await verifyRecords();
    assert.match(output, /^Records: 2 closed deliveries/);
    assert.match(output, /\nNo difference\./);
  });

  for (const [what, forgery] of Object.entries(FORGERIES))
    it(`is shown nowhere, and named, after ${what} was`, async () => {
      const undo = await forge(gone, forgery);
      try {
        for (const path of [`/deliveries/${gone}`, `/deliveries/${gone}/timeline`]) {
          const { status, json } = await get(path);
          assert.deepEqual([status, json.code], [409, 'record_altered'], path);
          assert.match(json.detail, new RegExp(`^A record was altered in the database: ${gone} `));
        }
        const certificate = await get(`/deliveries/${gone}/certificate`);
        assert.equal(certificate.status, 409, certificate.text);
        assert.match(certificate.json.code, /^record_altered$/);
        const lines = await exported();
        assert.equal(lines.find(({ type }) => type === 'altered')?.id, gone);
        assert.equal(lines.filter(({ type }) => type === 'delivery').length, 1);
      } finally {
        await undo();
      }
      assert.equal((await get(`/deliveries/${gone}`)).status, 200);
    });

  it('is found by `hookline records verify` [world]', async () => {
    const undo = await forge(held, ['detail', 'out of stock', 'thank you']);
    const { code, output } = await verifyRecords();
    assert.equal(code, 1);
    assert.match(output, new RegExp(`^${held}  is not what its record commits to`));
    await undo();
  });

  it('is named, when it is a tile of another type', async () => {
    const tiles = connection.collection<{ _id: string; hashes: unknown }>('log_tiles');
    const { hashes } = (await tiles.findOne({ _id: '0/0' })) ?? assert.fail();
    for (const other of ['text', 5, null]) {
      await tiles.updateOne({ _id: '0/0' }, { $set: { hashes: other } });
      const { code, output } = await verifyRecords();
      await tiles.updateOne({ _id: '0/0' }, { $set: { hashes } });
      assert.equal(code, 1);
      assert.match(output, /^the log {2}would not be signed: .* its tile 0\/0 is none.*\(tree_altered\)$/m);
      assert.match(output, /\d+ differs?\.\n$/);
    }
  });

  it('is found by its leaf if it was its operator, who has the keys', async () => {
    const { records } = system.database;
    const before = (await records.delivery(client.accountId, gone)) ?? assert.fail();
    const original = await stored(gone);
    const forged = async (detail: string): Promise<DeliveryRow> => {
      const closed = { ...JSON.parse(before.summary), ...JSON.parse(detail) };
      const event = { accountId: client.accountId, eventId: before.event_id };
      const salts = await records.rows.saltsOf(event, original.detail ?? '', before);
      const { payload_commitment } = JSON.parse(before.record ?? '');
      const view = { ...before, detail, closed };
      return {
        ...before,
        detail,
        record: committedRecord(client.accountId, view, 1, payload_commitment, salts),
      };
    };
    const { record, detail = '' } = await forged((before.detail ?? '').replace('/hooks', '/other'));
    const written = `p1.${keyIdOf(original.detail ?? '')}.${detail}`;
    await documents().updateOne({ _id: gone }, { $set: { record, detail: written } });
    for (const path of ['', '/timeline', '/certificate']) {
      const { status, json } = await get(`/deliveries/${gone}${path}`);
      assert.deepEqual([status, json.code], [409, 'record_altered'], path);
    }
    await documents().updateOne({ _id: gone }, { $set: { record: before.record, detail: original.detail } });
  });

  // What is told of one that was altered takes nothing over from it: see keeper.test.ts.
  it('is not sent again', async () => {
    const resend = () => client.request('POST', `/v18.0/deliveries/${gone}/resend`);
    const undo = await forge(gone, ['detail', 'out of stock', 'thank you']);
    const refused = await resend();
    await undo();
    assert.deepEqual([refused.status, refused.json.code], [409, 'record_altered']);
    assert.equal((await resend()).status, 202);
    await client.deliveryUntil(gone, ({ status, earlier_runs }) => status === 'delivered' && !!earlier_runs);
  });

  /** No list shows a change, nor what a resource became with it; an export has a line that says so. */
  const isShownNowhere = async ({ id, resource, at }: Change) => {
    const [kind, name] = resource.split(':');
    const paths = [`/changes?resource=${resource}`];
    if (kind === 'endpoint') paths.push(`/endpoints/${name}/versions`, `/endpoints/${name}?as_of=${at}`);
    for (const path of paths) {
      const { status, json } = await get(path);
      assert.deepEqual([status, json.code], [409, 'record_altered'], path);
      assert.match(json.detail, new RegExp(`: ${id} is not what was written`));
    }
    const { text } = await get(
      `/exports?include=changes&from=${new Date(Date.now() - 3_600_000).toISOString()}`,
    );
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.equal(lines.find((line) => line.id === id)?.type, 'altered');
    assert.ok(!lines.some(({ change }) => change?.id === id));
  };

  it('is found by its certificate, and shown nowhere, if it is a change [world]', async () => {
    const { id } = await client.register(`${receiver.url}/changed`);
    await send(client, 'PATCH', `/endpoints/${id}`, { description: 'moves house' });
    await send(client, 'POST', `/deliveries/${held}/resend`, { reason: 'it was lost' });
    const updated = await newestChange(client, `endpoint:${id}`);
    const resent = await newestChange(client, `delivery:${held}`);
    const changes = connection.collection<Stored>('changes');
    const certify = (change: Change) => get(`/changes/${change.id}/certificate`);
    for (const [change, said, forgeries] of [
      [updated, 'moves house', ['address', 'request_id', 'before', 'after', 'salt', 'action']],
      [resent, 'it was lost', ['address', 'request_id', 'reason', 'salt']],
    ] as const) {
      const { text } = await until(
        async () => {
          await runRecords(system);
          return certify(change);
        },
        ({ status }) => status === 200,
      );
      const { record, hasDetails } = verifyCertificate(text);
      assert.deepEqual([record.change_id, hasDetails], [change.id, true]);
      const { details } = JSON.parse(text) as Certificate;
      const { address, request_id, reason, before, after } = change;
      assert.deepEqual(
        details?.value,
        JSON.parse(canonicalJson({ address, request_id, reason, before, after })),
      );
      assert.ok(address && !canonicalJson(record).includes(address) && !canonicalJson(record).includes(said));
      const altered = text.replace(said, 'is stolen');
      assert.notEqual(altered, text);
      assert.throws(() => verifyCertificate(altered), /details are not those/);

      const original = (await changes.findOne({ _id: change.id })) ?? assert.fail();
      for (const field of forgeries) {
        const value = field === 'before' || field === 'after' ? '{"description":"forged"}' : 'forged';
        await changes.updateOne({ _id: change.id }, { $set: { [field]: value } });
        const { status, json } = await certify(change);
        assert.deepEqual([status, json.code], [409, 'record_altered'], field);
        await isShownNowhere(change);
        await changes.updateOne({ _id: change.id }, { $set: { [field]: original[field] ?? null } });
      }
      assert.equal((await certify(change)).status, 200);
    }
  });
});
