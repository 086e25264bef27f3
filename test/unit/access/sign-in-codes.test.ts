import { deepEqual, equal, match } from 'node:assert/strict';
import { SIGN_IN_WITHIN_MS, SignInCodes, signInUrl } from '../../../src/domain/access/sign-in-codes.js';

describe('A sign-in code', () => {
  const signIn = { role: 'desk', account_id: 'acct_1' } as const;

  it('signs in once, whom it was issued for', () => {
    const codes = new SignInCodes();
    const code = codes.issue(signIn);
    codes.issue({ role: 'portal', account_id: 'acct_2' });
    deepEqual(codes.take(code), signIn);
    equal(codes.take(code), undefined);
  });

  it('signs nobody in when it is too old, or made up', () => {
    let now = 0;
    const codes = new SignInCodes(() => now);
    const code = codes.issue(signIn);
    equal(codes.take('hlsi_'), undefined);
    now = SIGN_IN_WITHIN_MS;
    equal(codes.take(code), undefined);
  });

  it('is in the fragment of its address, which browsers do not send', () => {
    match(
      signInUrl('http://127.0.0.1:8080', 'desk', 'hlsi_x'),
      /^http:\/\/127\.0\.0\.1:8080\/desk#code=hlsi_x$/,
    );
  });
});
