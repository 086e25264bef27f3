import assert from 'node:assert/strict';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { newSecretKey, parseSecretKeys } from '../../../src/domain/access/secret-box.js';
import { EncryptionCodec, isEncrypted } from '../../../src/temporal/server/payload-codec.js';

const [old, fresh] = [newSecretKey(), newSecretKey()];
const toPayload = (value: unknown): Payload => defaultPayloadConverter.toPayload(value) ?? assert.fail();
const fromPayload = (payload: Payload | undefined): unknown =>
  defaultPayloadConverter.fromPayload(payload ?? assert.fail());

describe('the payload codec', () => {
  it('encrypts payloads, never in the same way twice, and reads them', async () => {
    const codec = new EncryptionCodec(parseSecretKeys(old));
    const value = { customer_email: 'ada@example.com', note: 'größer' };
    const [first, second] = await codec.encode([toPayload(value), toPayload(value)]);
    assert.ok(first && second && isEncrypted(first));
    assert.notDeepEqual(first.data, second.data);
    assert.ok(!Buffer.from(first.data ?? []).includes('example'));
    const opened = await codec.decode([first, second]);
    assert.deepEqual(opened.map(fromPayload), [value, value]);
  });

  it('reads what is not encrypted as it stands, and encrypts nothing without keys', async () => {
    const payload = toPayload('plain');
    assert.equal((await new EncryptionCodec(parseSecretKeys(old)).decode([payload]))[0], payload);
    assert.equal((await new EncryptionCodec().encode([payload]))[0], payload);
  });

  it('goes over to a new key, and still reads what the old one encrypted', async () => {
    const before = new EncryptionCodec(parseSecretKeys(old));
    const rotated = new EncryptionCodec(parseSecretKeys(`${fresh},${old}`));
    assert.equal(fromPayload((await rotated.decode(await before.encode([toPayload(1)])))[0]), 1);
    await assert.rejects(
      before.decode(await rotated.encode([toPayload(1)])),
      /HOOKLINE_PAYLOAD_KEYS does not/,
    );
  });

  it('refuses what was altered', async () => {
    const codec = new EncryptionCodec(parseSecretKeys(old));
    const [payload] = await codec.encode([toPayload('text')]);
    const data = Buffer.from(payload?.data ?? []);
    for (let at = 0; at < data.length; at += 1) {
      const altered = Buffer.from(data);
      altered[at] = (altered[at] ?? 0) ^ 1;
      await assert.rejects(codec.decode([{ ...payload, data: altered }]), /was altered/);
    }
  });
});
