import assert from 'node:assert/strict';
import { isEmailAddress } from '../src/schema/email-address.js';

const LONGEST = `${'l'.repeat(64)}@${'d'.repeat(255)}`;

describe('an e-mail address', () => {
  for (const address of [
    ...[
      'ada@example.com',
      'ada.lovelace+orders@mail.example.co.uk',
      "o'brien_{1}@example.com",
      'ada@localhost',
    ],
    ...['josé@example.com', 'ada@exämple.com', '用户@例子.广告', 'अजय@डाटा.भारत', '🙂@example.com'],
    ...['ada@xn--exmple-cua.com', '"ada lovelace"@example.com', String.raw`"a\"b"@example.com`],
    ...['ada@[192.0.2.1]', 'ada@[IPv6:2001:db8::1]', LONGEST],
  ]) {
    it(`may be ${address}`, () => assert.equal(isEmailAddress(address), true));
  }

  for (const text of [
    ...['', 'ada', '@example.com', 'ada@', 'ada@@example.com', 'ada@example@com', '.ada@example.com'],
    ...['ada.@example.com', 'a..b@example.com', 'ada lovelace@example.com', 'ada@exam ple.com', 'ada@.com'],
    ...['ada@example.', 'ada@-example.com', 'ada@example-.com', 'ada@exa_mple.com', 'ada@example.com\n'],
    ...['ada\u00a0@example.com', 'ada\u0085@example.com', 'ada\ud800@example.com', '"ada@example.com'],
    ...['Ada <ada@example.com>', 'ada@[]', `${LONGEST}d`],
  ]) {
    it(`is not ${JSON.stringify(text)}`, () => assert.equal(isEmailAddress(text), false));
  }
});
