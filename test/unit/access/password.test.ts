import assert from 'node:assert/strict';
import { hashPassword, matchesPassword } from '../../../src/domain/access/password.js';

describe('a password', () => {
  it('matches its own hash alone, and no other', async () => {
    const stored = await hashPassword('difference engine');
    assert.match(stored, /^scrypt\$32768\$8\$3\$/);
    assert.equal(await matchesPassword('difference engine', stored), true);
    assert.equal(await matchesPassword('difference engin', stored), false);
    assert.equal(await matchesPassword('difference engine', undefined), false);
    assert.notEqual(await hashPassword('difference engine'), stored);
  });

  it('is the same in another normal form of Unicode', async () => {
    assert.equal(await matchesPassword('caf\u00e9 au lait', await hashPassword('cafe\u0301 au lait')), true);
  });
});
