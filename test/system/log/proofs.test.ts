import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import mongoose from 'mongoose';
import { type Certificate, verifyCertificate } from '../../../src/domain/log/certificate.js';
import type { DeliveryDetails } from '../../../src/domain/records/details.js';
import { canonicalJson } from '../../../src/domain/records/record.js';
import { type ApiClient, apiClient, PURCHASE } from '../../support/api-client.js';
import { runRecords } from '../../support/parts/records.js';
import { HOOKLINE } from '../../support/programs/build.js';
import { buildGoVerifier, hasGo } from '../../support/programs/go.js';
import { inTurn, type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Receipt that the subscriber signs. */
const RECEIPT = 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=';

const isDelivered = ({ status }: { status: string }) => status === 'delivered';

describe('proofs', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let client: ApiClient;
  let folder: string;
  /** A delivery that was delivered with its second attempt. */
  let id: string;
  let certificate: string;
  let key: string;

  const read = async (path: string) => {
    const answer = await fetch(`${system.url}/v18.0${path}`);
    return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
  };
  const certificateOf = (delivery: string, by = client) =>
    by.request('GET', `/v18.0/deliveries/${delivery}/certificate`);
  /** Runs `keepRecords` until the log has a record of a delivery. */
  const untilInLog = (delivery: string, revision = 1) =>
    until(
      async () => {
        await runRecords(system);
        return certificateOf(delivery);
      },
      ({ json }) => json.record?.revision === revision,
    );
  const send = async () => {
    const { deliveries } = await client.purchase();
    const sent = deliveries[0]?.id ?? '';
    await client.deliveryUntil(sent, isDelivered);
    return sent;
  };
  const file = async (name: string, text: string) => {
    const path = join(folder, name);
    await writeFile(path, text);
    return path;
  };
  /** As a person without any server does it. */
  const verify = (...args: string[]) =>
    promisify(execFile)(process.execPath, [HOOKLINE, 'verify', ...args], {
      env: { PATH: process.env['PATH'] },
    });

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hookline-proofs-'));
    system = await startSystem({ HOOKLINE_RETRY_SCHEDULE: '100ms,1h' });
    receiver = await startReceiver({
      handler: inTurn(
        reply(500, { 'webhook-receipt': 'failed' }),
        reply(204, { 'webhook-receipt': RECEIPT }),
      ),
    });
    client = await system.account();
    await client.register(receiver.url);
    id = await send();
    certificate = (await untilInLog(id)).text;
    key = (await read('/log/key')).text;
  });
  after(async () => {
    await receiver.close();
    await system.stop();
    await rm(folder, { recursive: true });
  });

  it('show the record of a delivery to everybody, without the service', async () => {
    const { record, hasDetails, index, checkpoint } = verifyCertificate(certificate, { key });
    const delivery = await client.delivery(id);
    assert.equal(record.delivery_id, id);
    assert.equal(record.status, 'delivered');
    assert.deepEqual(
      record.attempts?.map(({ number, status_code, endpoint_version }) => ({
        number,
        status_code,
        endpoint_version,
      })),
      [
        { number: 1, status_code: 500, endpoint_version: 1 },
        { number: 2, status_code: 204, endpoint_version: 1 },
      ],
    );
    assert.equal(delivery.attempts.length, 2);
    assert.ok(index < checkpoint.size);
    const { details } = JSON.parse(certificate) as Certificate;
    assert.ok(details && hasDetails);
    const { reason, attempts } = details.value as Partial<DeliveryDetails>;
    assert.equal(reason, delivery.reason);
    for (const [at, shown] of delivery.attempts.entries()) {
      const { at: _, duration_ms, webhook_timestamp, url_host, endpoint_version, trigger, ...rest } = shown;
      const { status_code, ...committed } = rest;
      assert.deepEqual(attempts?.[at], committed);
    }
    assert.equal(attempts?.[1]?.response_headers?.['webhook-receipt'], RECEIPT);
    const { text } = await client.request('GET', `/v18.0/deliveries/${id}/certificate?details=false`);
    assert.equal(verifyCertificate(text, { key }).hasDetails, false);
    for (const secret of ['ada@example.com', 'Notebook', 'salt', receiver.url, RECEIPT])
      assert.ok(!text.includes(secret), secret);
    for (const secret of ['ada@example.com', 'Notebook']) assert.ok(!certificate.includes(secret), secret);
  });

  it('are checked by hookline verify, with the payload and with another checkpoint', async () => {
    const opening = (await client.request('GET', `/v18.0/deliveries/${id}/certificate/opening`)).text;
    const older = JSON.parse(certificate) as Certificate;
    await untilInLog(await send());
    const checkpoint = (await read('/log/checkpoint')).text;
    const { size } = verifyCertificate(certificate).checkpoint;
    const proof = (await read(`/log/proofs?from=${size}`)).text;
    const paths = {
      certificate: await file('certificate.json', certificate),
      opening: await file('opening.json', opening),
      checkpoint: await file('checkpoint', checkpoint),
      proof: await file('proof.json', proof),
      wrong: await file(
        'wrong.json',
        JSON.stringify({ ...older, record: { ...older.record, status: 'exhausted' } }),
      ),
    };
    const [{ stdout }] = await Promise.all([
      verify(
        ...[paths.certificate, '--key', key.trim(), '--payload', paths.opening],
        ...['--checkpoint', paths.checkpoint, '--consistency', paths.proof],
      ),
      assert.rejects(verify(paths.wrong), {
        code: 1,
        stderr: 'hookline: the log does not hold this record at this place\n',
      }),
    ]);
    assert.match(
      stdout,
      /^This proves that when the log \S+ signed its checkpoint of \d+ records, number \d+ was/,
    );
    assert.match(
      stdout,
      /\(delivered after 2 attempts\), the details in the certificate, where each attempt went and what came back, are what was recorded, the payload given is what was recorded, and that/,
    );
    assert.match(stdout, /the log is the same as that of the checkpoint given, of \d+; it does not prove/);
    assert.equal(JSON.parse(opening).payload, PURCHASE);
    const altered = opening.replace('ada@', 'eve@');
    assert.throws(
      () => verifyCertificate(certificate, { opening: altered }),
      /not the one that the record commits to/,
    );
  });

  it('are verified by the standard packages of Go, which find their own in the tiles [world]', async function () {
    if (!hasGo()) return this.skip();
    const go = await buildGoVerifier();
    const older = JSON.parse(certificate) as Certificate;
    const { size: from } = verifyCertificate(certificate).checkpoint;
    const newer = (await untilInLog(await send())).json as Certificate;
    const { size } = verifyCertificate(JSON.stringify(newer)).checkpoint;
    const { proof } = JSON.parse((await read(`/log/proofs?from=${from}&to=${size}`)).text);
    const path = `0/000.p/${size}`;
    assert.equal(await (await fetch(`${system.url}/log/checkpoint`)).text(), newer.checkpoint);
    const tile = await fetch(`${system.url}/log/tile/${path}`);
    assert.equal((await fetch(`${system.url}/v18.0/log/tile/${path}`)).status, 200);
    assert.match(tile.headers.get('cache-control') ?? '', /immutable/);
    const { record, leaf_index: index, inclusion_proof, details } = newer;
    const shown = { details: canonicalJson(details?.value), salt: details?.salt ?? '' };
    const input = {
      key: key.trim(),
      older: older.checkpoint,
      newer: newer.checkpoint,
      proof,
      inclusion: [{ record: canonicalJson(record), index, proof: inclusion_proof, ...shown }],
      tiles: { [`tile/8/${path}`]: Buffer.from(await tile.arrayBuffer()).toString('base64') },
    };
    assert.match(await go.verify(input), new RegExp(`: 1 of ${size} leaves, consistent with ${from}\n$`));
    const [own = assert.fail()] = input.inclusion;
    const forged = { ...own, details: shown.details.replace(receiver.url, 'https://other.example') };
    assert.notEqual(forged.details, shown.details);
    await assert.rejects(
      go.verify({ ...input, inclusion: [forged] }),
      /not those that the record commits to/,
    );
    await go.remove();
  });

  it('stay valid when the payload was erased, of which nobody can test a guess then [world]', async () => {
    const subject = 'carol@example.com';
    const { deliveries } = await client.purchase(PURCHASE.replace('ada@example.com', subject));
    const sent = deliveries[0]?.id ?? '';
    await client.deliveryUntil(sent, isDelivered);
    const before = (await untilInLog(sent)).text;
    const opening = () => client.request('GET', `/v18.0/deliveries/${sent}/certificate/opening`);
    assert.equal((await opening()).status, 200);
    const erased = await client.request('POST', '/v18.0/subjects/erase', { body: { subject } });
    assert.ok([200, 202].includes(erased.status), erased.text);
    const gone = await until(opening, ({ status }) => status !== 200);
    assert.deepEqual([gone.status, gone.json.code], [410, 'payload_gone']);
    assert.equal(verifyCertificate(before, { key }).record.delivery_id, sent);
    const after = verifyCertificate((await certificateOf(sent)).text, { key });
    assert.deepEqual(after.record, JSON.parse(before).record);
    assert.equal(after.hasDetails, false);
  });

  it('of a delivery that was sent again show both records, each as it was [world]', async () => {
    const first = await send();
    const { text } = await untilInLog(first);
    assert.equal((await client.request('POST', `/v18.0/deliveries/${first}/resend`)).status, 202);
    await client.deliveryUntil(
      first,
      ({ status, earlier_runs }) => isDelivered({ status }) && earlier_runs?.length === 1,
    );
    const again = (await untilInLog(first, 2)).json as Certificate;
    assert.equal(verifyCertificate(text, { key }).record['revision'], 1);
    assert.equal(verifyCertificate(JSON.stringify(again), { key }).record['revision'], 2);
  });

  it('show who changed what', async () => {
    const { data } = (await client.request('GET', '/v18.0/changes')).json;
    const { id: changeId } = data.find(({ resource }: { resource: string }) =>
      resource.startsWith('endpoint:'),
    );
    const answer = await client.request('GET', `/v18.0/changes/${changeId}/certificate`);
    const { record } = verifyCertificate(answer.text, { key });
    assert.equal(record.change_id, changeId);
    assert.equal(record['actor_id'], client.keyId);
    const stranger = await system.account();
    assert.equal((await stranger.request('GET', `/v18.0/changes/${changeId}/certificate`)).status, 404);
  });

  it('are not there yet for what is open or has just closed, and never for others', async () => {
    const stranger = await system.account();
    for (const path of ['certificate', 'certificate/opening']) {
      const { status, json } = await stranger.request('GET', `/v18.0/deliveries/${id}/${path}`);
      assert.deepEqual([status, json.code], [404, 'not_found']);
    }
    const closed = await send();
    const off = (await certificateOf(closed)).json;
    assert.equal(off.code, 'not_in_log');
    assert.match(off.detail, /is not in the log yet\. HOOKLINE_LOG_INTERVAL is off/);
    const other = await startSystem({ ...system.environment, HOOKLINE_LOG_INTERVAL: '2m' }, 'api');
    const answer = await certificateOf(closed, apiClient(other.url, client));
    await other.stop();
    assert.equal(answer.status, 404);
    assert.equal(
      answer.json.detail,
      `The delivery ${closed} is not in the log yet. The log is signed every 2m: ask again after that.`,
    );
    assert.equal(answer.headers.get('retry-after'), '120');

    receiver.handle(reply(500));
    const { deliveries } = await client.purchase();
    const open = deliveries[0]?.id ?? '';
    await client.deliveryUntil(open, ({ attempts }) => attempts.length === 2);
    const waiting = (await certificateOf(open)).json;
    assert.equal(waiting.code, 'not_in_log');
    assert.match(waiting.detail, /is open \(retrying\): it is recorded when it closes\./);
    assert.equal((await certificateOf('nonsense')).json.code, 'not_found');
  });

  it('are public without a token, in what holds no more than hashes', async () => {
    const checkpoint = await read('/log/checkpoint');
    assert.deepEqual([checkpoint.status, checkpoint.type], [200, 'text/plain; charset=utf-8']);
    const size = Number(checkpoint.text.split('\n')[1]);
    assert.deepEqual(JSON.parse((await read(`/log/proofs?from=${size}`)).text), {
      from: size,
      to: size,
      proof: [],
    });
    for (const [path, status] of [
      [`/log/proofs?from=1&to=${size + 1}`, 400],
      ['/log/proofs?from=2&to=1', 400],
      ['/log/proofs?from=0', 400],
      ['/log/proofs', 400],
      [`/log/tile/0/000.p/${size + 1}`, 404],
      ['/log/tile/0/001', 404],
      ['/log/tile/0/../checkpoint', 404],
      ['/log/tile/0/..%2f..', 404],
      ['/log/nothing', 404],
      [`/deliveries/${id}/certificate`, 401],
    ] as const)
      assert.equal((await read(path)).status, status, path);
    assert.equal((await fetch(`${system.url}/v18.0/log/key`, { method: 'POST' })).status, 405);
    assert.equal((await fetch(`${system.url}/v1.0/log/key`)).status, 410);
  });

  it('end when the database was altered, while records are kept [world]', async () => {
    receiver.handle(reply(204));
    const connection = await mongoose.createConnection(system.environment['MONGODB_URI'] ?? '').asPromise();
    const heads = connection.collection<{ _id: string }>('log_heads');
    const head = (await heads.findOne()) ?? assert.fail();
    await heads.deleteMany({});
    const refused = await runRecords(system).catch((error: unknown) => error);
    assert.match(String((refused as { cause?: { cause?: unknown } }).cause?.cause), /\(checkpoint_missing\)/);
    assert.equal(await heads.countDocuments(), 0);
    await heads.insertOne({ ...head, root: Buffer.alloc(32).toString('base64') } as { _id: string });
    const next = await send();
    await until(
      async () => {
        await assert.rejects(runRecords(system));
        return system.database.records.delivery(client.accountId, next);
      },
      (found) => found !== undefined,
    );
    for (const each of [next, id]) {
      const { status, json, text } = await certificateOf(each);
      assert.deepEqual([status, json.code], [409, 'log_altered'], text);
    }
    const { json } = await certificateOf(id);
    assert.match(json.detail, /\(checkpoint_altered\)/);
    const metrics = await (await fetch(`${system.url}/metrics`)).text();
    assert.match(metrics, /^hookline_log_refusals_total\{reason="checkpoint_missing"\} [1-9]/m);
    await connection.close();
  });
});

describe('the public part of the log', () => {
  it('counts each request against its address', async () => {
    const system = await startSystem({ HOOKLINE_RATE_LIMIT_ADDRESS: '3/1h' }, 'api');
    const ask = async () => (await fetch(`${system.url}/v18.0/log/key`)).status;
    assert.deepEqual([await ask(), await ask(), await ask(), await ask()], [200, 200, 200, 429]);
    await system.stop();
  });
});
