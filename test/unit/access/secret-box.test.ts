import assert from 'node:assert/strict';
import {
  newSecretKey,
  parseSecretKeys,
  SealError,
  SecretBox,
} from '../../../src/domain/access/secret-box.js';

describe('the secret box', () => {
  const [old, fresh] = [newSecretKey(), newSecretKey()];
  const before = new SecretBox(parseSecretKeys(old));
  const after = new SecretBox(parseSecretKeys(`${fresh},${old}`));
  const idOf = (key: string) => key.slice(0, key.indexOf(':'));

  it('opens what it sealed, and never seals the same way twice', () => {
    const sealed = before.seal('whsec_abc', 'ep_1:signing');
    assert.equal(before.open(sealed, 'ep_1:signing'), 'whsec_abc');
    assert.ok(!sealed.includes('whsec_abc'));
    assert.notEqual(before.seal('whsec_abc', 'ep_1:signing'), sealed);
    assert.equal(before.open(before.seal('', 'ep_1:signing'), 'ep_1:signing'), '');
  });

  it('opens nothing at another place, and nothing that was altered', () => {
    const sealed = before.seal('whsec_abc', 'ep_1:signing');
    assert.throws(() => before.open(sealed, 'ep_2:signing'), SealError);
    const at = sealed.indexOf(':') + 1;
    for (let index = at; index < sealed.length - 1; index += 1) {
      const altered = sealed.slice(0, index) + (sealed[index] === 'A' ? 'B' : 'A') + sealed.slice(index + 1);
      assert.throws(() => before.open(altered, 'ep_1:signing'), SealError);
    }
    assert.throws(() => before.open(sealed.slice(0, at + 4), 'ep_1:signing'), SealError);
    assert.throws(() => before.open('', 'ep_1:signing'), SealError);
  });

  it('goes over to a new key, and still opens what the old one sealed', () => {
    const sealed = before.seal('whsec_abc', 'ep_1:signing');
    assert.equal(after.open(sealed, 'ep_1:signing'), 'whsec_abc');
    assert.ok(after.isOutdated(sealed));
    const resealed = after.seal('whsec_abc', 'ep_1:signing');
    assert.ok(resealed.startsWith(`${idOf(fresh)}:`));
    assert.ok(!after.isOutdated(resealed));
    assert.throws(() => before.open(resealed, 'ep_1:signing'), new RegExp(`needs the key "${idOf(fresh)}"`));
  });

  it('refuses keys that are none, without repeating them', () => {
    const secret = old.slice(old.indexOf(':') + 1);
    for (const wrong of ['', secret, `k1:${secret.slice(4)}`, `k 1:${secret}`, `${old},`, `${old},${old}`]) {
      assert.throws(
        () => parseSecretKeys(wrong),
        (error) => error instanceof RangeError && !error.message.includes(secret.slice(0, 12)),
      );
    }
  });
});
