import assert from 'node:assert/strict';
import type { ApiClient } from '../../support/api-client.js';
import { Browser, formAction, logInAndAllow, newPerson, type Person } from '../../support/oauth.js';
import { OAuthApplication, useToken } from '../../support/outside/oauth-application.js';
import { FIVE_LOGINS, type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const SCOPES = ['profile:read', 'deliveries:read'];

describe('a login', () => {
  let system: SharedSystem;
  let account: ApiClient;
  let application: OAuthApplication;
  let person: Person;

  before(async () => {
    system = await sharedSystem(FIVE_LOGINS, 'api');
  });
  beforeEach(async () => {
    account = await system.account();
    application = await OAuthApplication.register(account);
    person = await newPerson(system, account, SCOPES);
  });

  const putLogin = async (change: Record<string, unknown>, by = account) =>
    by.request('PUT', `/v18.0/profiles/${person.profileId}/login`, {
      body: { login_name: person.loginName, password: person.password, scopes: SCOPES, ...change },
    });
  const deleteLogin = () => account.request('DELETE', `/v18.0/profiles/${person.profileId}/login`);
  const use = (token?: string, path?: string) => useToken(system.url, token, path);
  const revoked = (token?: string) =>
    until(
      () => use(token),
      ({ code }) => code === 'revoked_token',
    );

  it('that loses a scope takes it from every token at hand, and from every new one [world]', async () => {
    const browser = new Browser();
    const tokens = await application.tokens(person, browser);
    assert.equal((await use(tokens.access_token, '/deliveries')).status, 200);
    assert.equal((await putLogin({ scopes: ['profile:read'] })).status, 200);
    const refused = await until(
      () => use(tokens.access_token, '/deliveries'),
      ({ status }) => status === 403,
    );
    assert.equal(refused.code, 'missing_scope');
    assert.equal((await use(tokens.access_token)).status, 200);
    const confidential = await OAuthApplication.register(account, {
      token_endpoint_auth_method: 'client_secret_post',
    });
    assert.equal((await confidential.introspect(tokens.access_token))['scope'], 'profile:read');
    assert.equal((await application.refresh(tokens.refresh_token)).scope, 'profile:read');
    const page = await browser.go(application.authorizationUrl());
    assert.match(page.text, /<h1>Allow /, 'what is missing is asked for again');
    const { left } = await browser.go(formAction(page.text, system.url), {});
    assert.equal((await application.exchange(left)).scope, 'profile:read');
  });

  it('is one of its profile, also if several are set at once', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}@example.com`);
    const answers = await Promise.all(names.map((login_name) => putLogin({ login_name })));
    assert.deepEqual(
      answers.map(({ status }) => status),
      names.map(() => 200),
    );
    const found = await Promise.all(
      names.map((name) => system.database.logins.find(account.accountId, name)),
    );
    assert.equal(found.filter((login) => login !== undefined).length, 1);
  });

  it('that lacks every requested scope says so, and redirects back [world]', async () => {
    await putLogin({ scopes: ['keys:read'] });
    const browser = new Browser();
    const login = await browser.go(application.authorizationUrl());
    const form = { login_name: person.loginName, password: person.password };
    const page = await browser.go(formAction(login.text, system.url), form);
    assert.match(page.text, /<h1>Your login does not allow this<\/h1>/);
    const { left } = await browser.go(formAction(page.text, system.url), {});
    assert.equal(left?.searchParams.get('error'), 'access_denied');
  });

  it('keeps its sessions and tokens when it is written again with the same password', async () => {
    const tokens = await application.tokens(person);
    await putLogin({ scopes: [...SCOPES, 'endpoints:read'] });
    assert.equal((await application.refresh(tokens.refresh_token)).status, 200);
  });

  const endings: [string, () => Promise<{ status: number }>][] = [
    ['whose password is changed', () => putLogin({ password: 'analytical engine no. 1' })],
    ['that is deleted', deleteLogin],
    [
      'that is deleted and made again with the same password',
      async () => {
        await deleteLogin();
        return putLogin({});
      },
    ],
  ];
  for (const [which, end] of endings) {
    it(`${which} ends its access tokens, refresh tokens, codes and sessions [world]`, async () => {
      const browser = new Browser();
      const tokens = await application.tokens(person, browser);
      // At the second time the session answers, so that a code comes without a prompt.
      const unused = (await browser.go(application.authorizationUrl())).left;
      assert.ok(unused?.searchParams.has('code'));
      assert.ok((await end()).status < 300);
      await revoked(tokens.access_token);
      assert.equal((await application.refresh(tokens.refresh_token)).error, 'invalid_grant');
      assert.equal((await application.exchange(unused)).error, 'invalid_grant');
      const page = await browser.go(application.authorizationUrl());
      assert.match(page.text, /<h1>Log in<\/h1>/);
      const silent = await browser.go(application.authorizationUrl({ prompt: 'none' }));
      assert.equal(silent.left?.searchParams.get('error'), 'login_required');
      const confidential = await OAuthApplication.register(account, {
        token_endpoint_auth_method: 'client_secret_post',
      });
      assert.deepEqual(await confidential.introspect(tokens.access_token), { active: false });
    });
  }

  it('with a new password works again in the same browser [world]', async () => {
    const browser = new Browser();
    await application.tokens(person, browser);
    const password = 'analytical engine no. 1';
    await putLogin({ password });
    const tokens = await application.tokens({ ...person, password }, browser);
    assert.equal((await use(tokens.access_token)).id, person.profileId);
  });

  it('of another person takes over the browser [world]', async () => {
    const browser = new Browser();
    await application.tokens(person, browser);
    const profile = await account.request('POST', '/v18.0/profiles', {
      body: { username: 'bob', name: 'B' },
    });
    const bob = { profileId: profile.json.id, loginName: 'bob', password: 'a password of his own' };
    await account.request('PUT', `/v18.0/profiles/${bob.profileId}/login`, {
      body: { login_name: bob.loginName, password: bob.password, scopes: SCOPES },
    });
    const redirect = await logInAndAllow(browser, application.authorizationUrl({ prompt: 'login' }), bob);
    const tokens = await application.exchange(redirect);
    assert.equal((await use(tokens.access_token)).id, bob.profileId);
    const again = await browser.go(application.authorizationUrl());
    const next = await application.exchange(again.left);
    assert.equal((await use(next.access_token)).id, bob.profileId, 'the session is his');
  });

  it('is not changed by somebody who holds less than it may', async () => {
    const { json } = await account.request('POST', '/v18.0/api_keys', {
      body: { name: 'keys alone', scopes: ['keys:write', 'profile:read', 'profiles:read'] },
    });
    const headers = { authorization: `Bearer ${json.key}` };
    const body = { login_name: person.loginName, password: 'chosen by a stranger', scopes: ['profile:read'] };
    const path = `/v18.0/profiles/${person.profileId}/login`;
    const refused = await account.request('PUT', path, { body, headers });
    assert.equal(refused.json.code, 'missing_scope', refused.text);
    assert.match(refused.json.detail, /deliveries:read/);
    assert.equal((await application.tokens(person)).status, 200);
  });

  describe('that is tried with wrong passwords', () => {
    /** Tries from an address, as the proxy tells it. */
    const tries = async (count: number, address: string, password = 'wrong') => {
      const browser = new Browser({ 'x-forwarded-for': address });
      const page = await browser.go(application.authorizationUrl());
      const answers = [];
      for (let n = 0; n < count; n++) {
        const form = { login_name: person.loginName, password };
        answers.push(await browser.go(formAction(page.text, system.url), form));
      }
      return answers;
    };
    const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status);

    it('is refused after five from one address, on a page that says how long; and not from another', async () => {
      const answers = await tries(6, '198.51.100.1');
      assert.deepEqual(statuses(answers), [401, 401, 401, 401, 401, 429]);
      const last = answers.at(-1);
      assert.match(last?.headers.get('content-type') ?? '', /^text\/html/);
      assert.match(last?.text ?? '', /<h1>Too many attempts to log in<\/h1>/);
      assert.match(last?.text ?? '', /Wait (\d+ minutes|a minute)/);
      assert.ok(Number(last?.headers.get('retry-after')) > 0);
      assert.deepEqual(statuses(await tries(1, '198.51.100.1', person.password)), [429]);
      assert.match((await tries(1, '198.51.100.2', person.password))[0]?.text ?? '', /<h1>Allow /);
    });

    it('forgets them when the person logs in, and does not count what was right', async () => {
      for (let n = 0; n < 3; n++) {
        assert.deepEqual(statuses(await tries(4, '198.51.100.3')), [401, 401, 401, 401]);
        assert.match((await tries(1, '198.51.100.3', person.password))[0]?.text ?? '', /<h1>Allow /);
      }
    });
  });
});
