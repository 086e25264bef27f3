import assert from 'node:assert/strict';
import type { ApiClient } from '../../support/api-client.js';
import { Browser, logInAndAllow, newPerson, type Person } from '../../support/oauth.js';
import { OAuthApplication, type TokenAnswer, useToken } from '../../support/outside/oauth-application.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const AT_ONCE = 20;
const ROUNDS = 3;

describe('a refresh token or code that is used by several at once', () => {
  let system: SharedSystem;
  let account: ApiClient;
  let application: OAuthApplication;
  let person: Person;

  before(async () => {
    system = await sharedSystem();
    account = await system.account();
    application = await OAuthApplication.register(account);
    person = await newPerson(system, account);
  });

  /** Exactly one was answered with tokens, and these have ended with the grant: whoever got them may be the thief. */
  const assertGrantEnded = async (answers: TokenAnswer[]) => {
    const [winner, ...others] = answers.filter(({ status }) => status === 200);
    assert.ok(winner, 'one was first');
    assert.equal(others.length, 0, 'only one was first');
    const losers = answers.filter((answer) => answer !== winner);
    assert.deepEqual(new Set(losers.map(({ error }) => error)), new Set(['invalid_grant']));
    await until(
      () => useToken(system.url, winner.access_token),
      ({ code }) => code === 'revoked_token',
    );
    assert.equal((await application.refresh(winner.refresh_token)).error, 'invalid_grant');
  };

  for (let round = 1; round <= ROUNDS; round++) {
    it(`gives tokens once and ends the grant: ${AT_ONCE} refreshes, round ${round} [world]`, async () => {
      const { refresh_token } = await application.tokens(person);
      await assertGrantEnded(
        await Promise.all(Array.from({ length: AT_ONCE }, () => application.refresh(refresh_token))),
      );
    });
  }

  it(`gives tokens once and ends the grant: ${AT_ONCE} exchanges of one code [world]`, async () => {
    const redirect = await logInAndAllow(new Browser(), application.authorizationUrl(), person);
    await assertGrantEnded(
      await Promise.all(Array.from({ length: AT_ONCE }, () => application.exchange(redirect))),
    );
  });

  it('ends the grant also where each saw it unused, and was only then second to use it up', async () => {
    const { access_token = '', refresh_token = '' } = await application.tokens(person);
    assert.equal((await useToken(system.url, access_token)).status, 200);
    assert.equal(await system.database.oauthRecords.consume(refresh_token), true);
    assert.equal(await system.database.oauthRecords.consume(refresh_token), false);
    await until(
      () => useToken(system.url, access_token),
      ({ code }) => code === 'revoked_token',
    );
  });

  it('leaves the other grants of the person and the application alone', async () => {
    const stays = await application.tokens(person);
    const { refresh_token } = await application.tokens(person);
    assert.equal((await application.refresh(refresh_token)).status, 200);
    assert.equal((await application.refresh(refresh_token)).error, 'invalid_grant');
    assert.equal((await application.refresh(stays.refresh_token)).status, 200);
  });
});
