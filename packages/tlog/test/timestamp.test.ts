import assert from 'node:assert/strict';
import { Certificate, ContentInfo, SignedData, TimeStampResp } from 'pkijs';
import {
  createTimestampAuthority,
  type TimestampAuthority,
} from '../../../test/support/outside/timestamp-authority.js';
import { hasProgram } from '../../../test/support/programs/programs.js';
import { asSigned, signCheckpoint } from '../src/checkpoint.js';
import { leafHash } from '../src/merkle-tree.js';
import { newSigningKey, readSigningKey } from '../src/signed-note.js';
import {
  checkAnswer,
  MAX_TIMESTAMP_BYTES,
  TimestampError,
  timestampQuery,
  verifyTimestamp,
} from '../src/timestamp.js';

describe('a time stamp', () => {
  const signer = readSigningKey(newSigningKey('hooks.example.com/log'));
  const note = signCheckpoint(300, leafHash('a'), [signer]);
  const other = signCheckpoint(301, leafHash('b'), [signer]);
  let authority: TimestampAuthority;
  let stranger: TimestampAuthority;
  let answer: Buffer;
  let another: Buffer;

  // Costs a second of processor: openssl makes four RSA keys.
  before(async function () {
    if (!hasProgram('openssl', 'version')) return this.skip();
    [authority, stranger] = await Promise.all([
      createTimestampAuthority(),
      createTimestampAuthority('servers'),
    ]);
    // Before the time stamp: at its time, it is valid.
    another = await authority.anotherCertificate();
    const { body, nonce } = timestampQuery(note);
    answer = await authority.answer(body);
    const at = await checkAnswer(answer, note, nonce);
    assert.ok(Math.abs(at.getTime() - Date.now()) < 60_000);
  });
  after(() => Promise.all([authority?.remove(), stranger?.remove()]));

  it('of a checkpoint holds here and for openssl, whoever cosigns the checkpoint later', async () => {
    const { at, by } = await verifyTimestamp(answer, note, authority.ca);
    assert.ok(Math.abs(at.getTime() - Date.now()) < 60_000);
    assert.equal(by, 'CN=time.example.com');
    assert.equal((await authority.verify(answer, note)).trim(), 'Verification: OK');
    const cosigned = `${note}\u2014 witness.example.com AAAAAAA=\n`;
    assert.equal(asSigned(cosigned), note);
    await verifyTimestamp(answer, cosigned, authority.ca);
    await verifyTimestamp(answer, note, stranger.ca + authority.ca);
  });

  it('is refused of another checkpoint, here and by openssl', async () => {
    await assert.rejects(verifyTimestamp(answer, other, authority.ca), /something else than the checkpoint/);
    await assert.rejects(authority.verify(answer, other), /message imprint mismatch/);
  });

  it('is refused if nobody who is trusted vouches for it, or its certificate is not one for time stamps', async () => {
    await assert.rejects(verifyTimestamp(answer, note, stranger.ca), TimestampError);
    await assert.rejects(verifyTimestamp(answer, note, 'no certificate'), /must be certificates, as PEM/);
    const garbled = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----';
    await assert.rejects(
      verifyTimestamp(answer, note, garbled),
      /a certificate of the authorities cannot be read/,
    );
    const { timeStampToken } = TimeStampResp.fromBER(answer);
    const { encapContentInfo } = new SignedData({ schema: timeStampToken?.content });
    const info = Buffer.from(encapContentInfo.eContent?.getValue() ?? new ArrayBuffer(0));
    await verifyTimestamp(await authority.sign(info), note, authority.ca);
    const byServer = await stranger.sign(info);
    await assert.rejects(verifyTimestamp(byServer, note, stranger.ca), /is not one for time stamps/);
  });

  it('is refused if it names another certificate than the one that it comes with', async () => {
    const withCertificate = (der?: Buffer) => {
      const response = TimeStampResp.fromBER(answer);
      const signed = new SignedData({ schema: response.timeStampToken?.content });
      if (der) signed.certificates = [Certificate.fromBER(der)];
      response.timeStampToken = new ContentInfo({
        contentType: response.timeStampToken?.contentType ?? '',
        content: signed.toSchema(true),
      });
      return Buffer.from(response.toSchema().toBER());
    };
    await verifyTimestamp(withCertificate(), note, authority.ca);
    await assert.rejects(
      verifyTimestamp(withCertificate(another), note, authority.ca),
      /names another certificate/,
    );
  });

  it('is refused if the service says that it granted none, whatever comes with that', async () => {
    const refused = Buffer.from(answer);
    // The status: an INTEGER, the first value of the first member.
    const at = refused.indexOf(Buffer.of(0x02, 0x01, 0x00));
    assert.ok(at > 0 && at < 12);
    refused[at + 2] = 2;
    await assert.rejects(verifyTimestamp(refused, note, authority.ca), /granted no time stamp: status 2/);
  });

  it('is refused with any byte changed, and cut off anywhere [world]', async () => {
    let held = 0;
    for (let at = 0; at < answer.length; at += 23) {
      const changed = Buffer.from(answer);
      changed[at] = (changed[at] ?? 0) ^ 0x41;
      await verifyTimestamp(changed, note, authority.ca).then(
        () => {
          held += 1;
        },
        (error: unknown) => assert.ok(error instanceof TimestampError, String(error)),
      );
    }
    for (let length = 0; length < answer.length; length += 211)
      await assert.rejects(verifyTimestamp(answer.subarray(0, length), note, authority.ca), TimestampError);
    // What carries no meaning may differ: tags of what is passed over, and names in certificates that nobody needs.
    assert.ok(held <= 3, `${held} held`);
  });

  it('is not taken as the answer to another request, of nothing, or if it is too long', async () => {
    const { body, nonce } = timestampQuery(note);
    await assert.rejects(checkAnswer(answer, note, nonce), /the response to another request/);
    await assert.rejects(checkAnswer(Buffer.alloc(0), note, nonce), /is not a time stamp/);
    await assert.rejects(checkAnswer(Buffer.from('<html>'), note, nonce), /is not a time stamp/);
    await assert.rejects(checkAnswer(Buffer.alloc(MAX_TIMESTAMP_BYTES + 1), note, nonce), /too long/);
    const refused = await authority.answer(Buffer.concat([body.subarray(0, -3), Buffer.of(1, 1, 0)]));
    await assert.rejects(checkAnswer(refused.subarray(0, 40), note, nonce), TimestampError);
  });
});
