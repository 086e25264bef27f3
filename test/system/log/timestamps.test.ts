import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { timestampQuery } from '../../../packages/tlog/src/timestamp.js';
import { type Certificate, verifyCertificate } from '../../../src/domain/log/certificate.js';
import {
  createTimestampAuthority,
  type TimestampAuthority,
} from '../../support/outside/timestamp-authority.js';
import { recorded, runRecords } from '../../support/parts/records.js';
import { HOOKLINE } from '../../support/programs/build.js';
import { hasProgram } from '../../support/programs/programs.js';
import { type Handler, type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const bytes =
  (body: Buffer): Handler =>
  (_, response) =>
    void response.writeHead(200).end(body);

// A system of its own, as its log is stamped.
describe('time stamps of checkpoints [world]', () => {
  let authority: TimestampAuthority;
  let service: Receiver;
  let receiver: Receiver;
  let system: TestSystem;

  const read = async (path: string) => {
    const answer = await fetch(`${system.url}${path}`);
    return {
      status: answer.status,
      type: answer.headers.get('content-type'),
      body: Buffer.from(await answer.arrayBuffer()),
    };
  };
  const checkpoint = async () => (await read('/v18.0/log/checkpoint')).body.toString();
  const metric = async (name: string) => {
    const { body } = await read('/metrics');
    return Number(new RegExp(`^${name} (.+)$`, 'm').exec(body.toString())?.[1]);
  };
  /** Delivers something, and runs `keepRecords` until the log has it. @returns the certificate, and reads it again */
  const deliver = async () => {
    const client = await system.account();
    await client.register(receiver.url);
    const [{ id = '' } = {}] = (await client.purchase()).deliveries;
    await client.deliveryUntil(id, ({ status }) => status === 'delivered');
    await recorded(system, client, [id]);
    const again = (checkpoint: string) =>
      client.request('GET', `/v18.0/deliveries/${id}/certificate?checkpoint=${checkpoint}`);
    const { text, json } = await until(
      async () => {
        await runRecords(system);
        return again('stamped');
      },
      ({ status }) => status === 200,
    );
    return { text, certificate: json as Certificate, again };
  };

  // Costs a second of processor: openssl makes two RSA keys.
  before(async function () {
    if (!hasProgram('openssl', 'version')) return this.skip();
    authority = await createTimestampAuthority();
    service = await startReceiver({ handler: authority.handler });
    receiver = await startReceiver();
    const url = `${service.url.replace('https://', 'https://user:pass%20word@')}/stamp`;
    system = await startSystem({ HOOKLINE_LOG_TIMESTAMP_URL: url });
  });
  after(async () => {
    await Promise.all([service?.close(), receiver?.close(), system?.stop()]);
    await authority?.remove();
  });

  it('are kept with the checkpoint, served beside it and in certificates, and hold for openssl and hookline verify', async () => {
    const { text, certificate } = await deliver();
    const { status, type, body } = await read('/v18.0/log/timestamp');
    assert.deepEqual([status, type], [200, 'application/timestamp-reply']);
    assert.deepEqual((await read('/log/timestamp')).body, body);
    assert.equal((await authority.verify(body, await checkpoint())).trim(), 'Verification: OK');
    assert.equal(certificate.timestamp, body.toString('base64'));
    const [asked] = service.received;
    assert.equal(
      asked?.headers['authorization'],
      `Basic ${Buffer.from('user:pass word').toString('base64')}`,
    );
    assert.ok(Math.abs((await metric('hookline_log_stamped_timestamp_seconds')) - Date.now() / 1_000) < 600);

    const folder = join(authority.caFile, '..');
    const path = join(folder, 'certificate.json');
    await writeFile(path, text);
    const verify = (...more: string[]) =>
      promisify(execFile)(process.execPath, [HOOKLINE, 'verify', path, ...more]);
    const { stdout } = await verify('--timestamp-ca', authority.caFile);
    assert.match(
      stdout,
      /the checkpoint was there at \S+Z, as the time stamp of CN=time\.example\.com says; it does not prove/,
    );
    await assert.rejects(verify('--timestamp-ca', path), { code: 1, stderr: /must be certificates, as PEM/ });
    const { timestamp: _, ...bare } = certificate;
    await writeFile(path, JSON.stringify(bare));
    await assert.rejects(verify('--timestamp-ca', authority.caFile), { stderr: /has no time stamp/ });
  });

  it('are asked for once, and again for the next checkpoint alone', async () => {
    const before = service.received.length;
    await runRecords(system);
    assert.equal(service.received.length, before);
    const { certificate } = await deliver();
    assert.ok(service.received.length > before);
    assert.equal(
      (await authority.verify((await read('/log/timestamp')).body, await checkpoint())).trim(),
      'Verification: OK',
    );
    assert.ok(certificate.timestamp);
  });

  it('stay with what they first covered, whatever is signed later', async () => {
    const { certificate, again } = await deliver();
    await deliver();
    const later = (await again('stamped')).json as Certificate;
    assert.deepEqual([later.checkpoint, later.timestamp], [certificate.checkpoint, certificate.timestamp]);
    verifyCertificate(JSON.stringify(later));
    const last = (await again('last')).json as Certificate;
    assert.equal(last.checkpoint, await checkpoint());
    assert.notEqual(last.timestamp, later.timestamp);
    verifyCertificate(JSON.stringify(last));
  });

  it('hold up no signature: a service that fails, lies, or sends without end is counted, and asked again', async () => {
    const another = await authority.answer(timestampQuery(await checkpoint()).body);
    const endless = Buffer.alloc(1_048_576);
    for (const handler of [reply(503), reply(200, {}, 'no time stamp'), bytes(another), bytes(endless)]) {
      const failures = await metric('hookline_log_unstamped_total');
      service.handle(handler);
      const { certificate } = await deliver();
      assert.equal(certificate.timestamp, undefined);
      assert.equal(certificate.checkpoint, await checkpoint());
      assert.equal((await read('/log/timestamp')).status, 404);
      await until(
        () => metric('hookline_log_unstamped_total'),
        (now) => now > failures,
      );
    }
    service.handle(authority.handler);
    // A checkpoint may be signed between the two reads.
    await until(
      async () => {
        await runRecords(system);
        const { status, body } = await read('/log/timestamp');
        return status === 200 ? authority.verify(body, await checkpoint()).catch(String) : status;
      },
      (said) => String(said).trim() === 'Verification: OK',
    );
  });
});
