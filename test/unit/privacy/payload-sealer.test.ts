import assert from 'node:assert/strict';
import { hkdfSync } from 'node:crypto';
import {
  dataKeyBox,
  newSecretKey,
  parseSecretKeys,
  SecretBox,
} from '../../../src/domain/access/secret-box.js';
import { commitTo, keyNameOf, newDataKey, saltOf } from '../../../src/domain/privacy/data-key.js';
import { createPayloadSealer } from '../../../src/domain/privacy/payload-sealer.js';
import { MemoryKeys } from '../../support/parts/memory-keys.js';

const PAYLOAD = '{"customer_email":"ada@example.com","note":"größer"}';
const context = { accountId: 'acct_1', eventId: 'evt_1' };

describe('sealed payloads', () => {
  it('open with their own account and event alone', async () => {
    const sealer = createPayloadSealer(new MemoryKeys(), true);
    const sealed = await sealer.seal({ ...context, subject: 'ada' }, PAYLOAD);
    assert.ok(!sealed.includes('example'));
    assert.equal(await sealer.open(context, sealed), PAYLOAD);
    await assert.rejects(sealer.open({ ...context, eventId: 'evt_2' }, sealed), /altered or moved/);
    assert.equal(await sealer.open({ ...context, accountId: 'acct_2' }, sealed), undefined);
  });

  it('do not open once a byte was changed', async () => {
    const sealer = createPayloadSealer(new MemoryKeys(), true);
    const sealed = await sealer.seal(context, PAYLOAD);
    for (let at = sealed.lastIndexOf('.') + 1; at < sealed.length - 1; at += 7) {
      const other = sealed[at] === 'A' ? 'B' : 'A';
      await assert.rejects(sealer.open(context, sealed.slice(0, at) + other + sealed.slice(at + 1)));
    }
    await assert.rejects(sealer.open(context, PAYLOAD), /not a sealed text/);
  });

  for (const encrypts of [true, false])
    it(`are refused as payloads if they are not what was committed to, ${encrypts ? '' : 'not '}encrypted`, async () => {
      const sealer = createPayloadSealer(new MemoryKeys(), encrypts);
      const { sealed, commitment } = await sealer.sealCommitted(context, PAYLOAD);
      assert.equal(await sealer.openCommitted(context, { sealed, commitment }), PAYLOAD);
      const forged = `${keyNameOf(sealed)}{"forged":true}`;
      assert.equal(await sealer.open(context, forged), '{"forged":true}');
      const salt = (await sealer.salt(context, sealed)) ?? assert.fail();
      assert.equal(commitTo(salt, PAYLOAD), commitment);
      for (const other of [
        { sealed: forged, commitment },
        { sealed, commitment: commitTo(salt, 'other') },
      ])
        await assert.rejects(sealer.openCommitted(context, other), /is another one than it commits to/);
    });

  it('cannot be read, nor their salt found out, once the key of their subject was erased', async () => {
    const keys = new MemoryKeys();
    const sealer = createPayloadSealer(keys, true);
    const ada = await sealer.seal({ ...context, subject: 'ada' }, PAYLOAD);
    const bob = await sealer.seal({ ...context, subject: 'bob' }, PAYLOAD);
    keys.keys.delete('acct_1:ada');
    assert.equal(await sealer.open(context, ada), undefined);
    assert.equal(await sealer.salt(context, ada), undefined);
    assert.equal(await sealer.sealBeside(context, ada, 'more'), undefined);
    assert.equal(await sealer.open(context, bob), PAYLOAD);
  });

  it('have a salt of their event, the same however often it is asked for', async () => {
    const sealer = createPayloadSealer(new MemoryKeys(), true);
    const first = await sealer.seal(context, PAYLOAD);
    const again = await sealer.seal(context, PAYLOAD);
    assert.notEqual(first, again);
    const salt = (await sealer.salt(context, first)) ?? assert.fail();
    assert.deepEqual(await sealer.salt(context, again), salt);
    const other = { ...context, eventId: 'evt_2' };
    assert.notDeepEqual(await sealer.salt(other, await sealer.seal(other, PAYLOAD)), salt);
    assert.match(commitTo(salt, PAYLOAD), /^[0-9a-f]{64}$/);
  });

  it('have hashes that no guess can be tested by once the key of their subject was erased', async () => {
    const keys = new MemoryKeys();
    const sealer = createPayloadSealer(keys, true);
    const hash = (subject?: string) => sealer.hash({ accountId: 'acct_1', subject }, 'idempotency', PAYLOAD);
    const [ada, own] = [await hash('ada'), await hash()];
    assert.deepEqual([await hash('ada'), await hash()], [ada, own]);
    keys.keys.delete('acct_1:ada');
    assert.notEqual(await hash('ada'), ada);
    assert.equal(await hash(), own);
  });

  it('have a salt that HKDF of RFC 5869 derives from the key', () => {
    const dataKey = newDataKey();
    const expected = hkdfSync('sha256', dataKey.key, 'acct_1:evt_1', 'hookline/commitment', 32);
    assert.deepEqual(saltOf(dataKey, 'acct_1:evt_1', 'commitment'), Buffer.from(expected));
  });

  it('seal what belongs to the same event with the same key', async () => {
    const sealer = createPayloadSealer(new MemoryKeys(), true);
    const sealed = await sealer.seal({ ...context, subject: 'ada' }, PAYLOAD);
    const beside = (await sealer.sealBeside(context, sealed, 'answer')) ?? assert.fail();
    assert.equal(beside.split('.')[1], sealed.split('.')[1]);
    assert.equal(await sealer.open(context, beside), 'answer');
  });

  it('stay plain, but have a salt, if the installation does not encrypt', async () => {
    const sealer = createPayloadSealer(new MemoryKeys(), false);
    const kept = await sealer.seal({ ...context, subject: 'ada' }, PAYLOAD);
    assert.ok(kept.endsWith(`.${PAYLOAD}`));
    assert.equal(await sealer.open(context, kept), PAYLOAD);
    assert.equal((await sealer.salt(context, kept))?.length, 32);
  });
});

describe('what wraps data keys', () => {
  const secretKeys = parseSecretKeys(newSecretKey());
  const payloadKeys = parseSecretKeys(newSecretKey());

  it('opens what a secret key wrapped after payload keys are set, and says that it is outdated', () => {
    const before = dataKeyBox(undefined, secretKeys);
    const after = dataKeyBox(payloadKeys, secretKeys);
    const wrapped = before.seal('key', 'x');
    assert.equal(after.open(wrapped, 'x'), 'key');
    assert.ok(after.isOutdated(wrapped));
    assert.ok(!after.isOutdated(after.seal('key', 'x')));
  });

  it('names the setting that lacks a key', () => {
    const wrapped = dataKeyBox(payloadKeys, secretKeys).seal('key', 'x');
    const open = () => dataKeyBox(undefined, secretKeys).open(wrapped, 'x');
    assert.throws(open, /HOOKLINE_PAYLOAD_KEYS does not hold/);
    assert.throws(() => new SecretBox(payloadKeys).open(wrapped, 'x'), /HOOKLINE_PAYLOAD_KEYS does not hold/);
  });
});
