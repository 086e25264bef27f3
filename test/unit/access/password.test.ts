import assert from 'node:assert/strict';
import { hashPassword, matchesPassword } from '../../../src/domain/access/password.js';

describe('a password', () => {
  it('matches its own hash alone, in any normal form of Unicode, and no other', async () => {
    // Each of the two has an accent that is a character of its own where the other one's is not.
    const stored = await hashPassword('cafe\u0301 \u00e9clair');
    assert.match(stored, /^scrypt\$32768\$8\$3\$/);
    assert.equal(await matchesPassword('caf\u00e9 e\u0301clair', stored), true);
    assert.equal(await matchesPassword('caf\u00e9 e\u0301clai', stored), false);
    assert.equal(await matchesPassword('caf\u00e9 e\u0301clair', undefined), false);
    assert.notEqual(await hashPassword('cafe\u0301 \u00e9clair'), stored);
  });
});
