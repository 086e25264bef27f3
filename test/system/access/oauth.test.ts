import assert from 'node:assert/strict';
import * as oauth from 'oauth4webapi';
import { SCOPES } from '../../../src/domain/access/api-key.js';
import type { ApiClient } from '../../support/api-client.js';
import { Browser, formAction, logInAndAllow, newPerson, type Person } from '../../support/oauth.js';
import { FIVE_LOGINS, type SharedSystem, secondProcess, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const REDIRECT_URI = 'http://127.0.0.1:9/callback';
/** The test's server speaks plain http on loopback. */
const INSECURE = { [oauth.allowInsecureRequests]: true };

describe('OAuth 2.0, by oauth4webapi', () => {
  let system: SharedSystem;
  let second: SharedSystem;
  let account: ApiClient;
  let person: Person;
  let server: oauth.AuthorizationServer;

  before(async () => {
    system = await sharedSystem(FIVE_LOGINS, 'api');
    second = await secondProcess(system);
    account = await system.account();
    person = await newPerson(system, account);
    const issuer = new URL(system.url);
    const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...INSECURE });
    server = await oauth.processDiscoveryResponse(issuer, response);
  });

  const register = async (body: Record<string, unknown>, owner = account) => {
    const { status, json, text } = await owner.request('POST', '/v18.0/oauth_clients', {
      body: { name: 'Test <application>', scopes: ['profile:read'], ...body },
    });
    assert.equal(status, 201, text);
    return { client: { client_id: json.id } as oauth.Client, secret: json.secret as string };
  };
  const me = async (token: string, url = system.url) => {
    const response = await fetch(`${url}/v18.0/me?fields=id,followers_count`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  };
  const clientCredentials = async (client: oauth.Client, secret: string, scope = 'profile:read') => {
    const response = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      oauth.ClientSecretBasic(secret),
      { scope },
      INSECURE,
    );
    return oauth.processClientCredentialsResponse(server, client, response);
  };
  /** Code with PKCE, up to the tokens. */
  const codeGrant = async (
    { client, auth = oauth.None() }: { client: oauth.Client; auth?: oauth.ClientAuth },
    scope = 'profile:read',
    browser = new Browser(),
  ) => {
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const address = authorizationUrl(client, {
      scope,
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const redirect = await logInAndAllow(browser, address, person);
    const parameters = oauth.validateAuthResponse(server, client, redirect, state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      auth,
      parameters,
      REDIRECT_URI,
      verifier,
      INSECURE,
    );
    return oauth.processAuthorizationCodeResponse(server, client, response);
  };
  const authorizationUrl = (client: oauth.Client, parameters: Record<string, string>) => {
    const address = new URL(server.authorization_endpoint ?? '');
    address.search = String(
      new URLSearchParams({
        client_id: client.client_id,
        redirect_uri: REDIRECT_URI,
        response_type: 'code',
        ...parameters,
      }),
    );
    return address.href;
  };
  const refresh = async (client: oauth.Client, refreshToken: string) => {
    const response = await oauth.refreshTokenGrantRequest(
      server,
      client,
      oauth.None(),
      refreshToken,
      INSECURE,
    );
    return oauth.processRefreshTokenResponse(server, client, response);
  };
  const publicClient = () =>
    register({
      grant_types: ['authorization_code', 'refresh_token'],
      redirect_uris: [REDIRECT_URI],
      token_endpoint_auth_method: 'none',
    });

  it('is discovered', () => {
    assert.equal(server.issuer, system.url);
    assert.equal(server.token_endpoint, `${system.url}/oauth/token`);
    assert.deepEqual(server.code_challenge_methods_supported, ['S256']);
    assert.deepEqual(server.scopes_supported, SCOPES);
  });

  it('client credentials: a token acts for the account, as header and as query parameter', async () => {
    const { client, secret } = await register({});
    const { access_token, expires_in, token_type } = await clientCredentials(client, secret);
    assert.equal(expires_in, 3_600);
    assert.equal(token_type, 'bearer');
    const own = { id: account.accountId.replace('acct_', 'prof_'), followers_count: 0 };
    assert.deepEqual(await me(access_token), { status: 200, json: own });
    const query = await fetch(
      `${system.url}/v18.0/me?fields=id,followers_count&access_token=${access_token}`,
    );
    assert.deepEqual(await query.json(), own);
    const endpoints = await account.request('GET', '/v18.0/endpoints', {
      headers: { authorization: `Bearer ${access_token}` },
    });
    assert.equal(endpoints.status, 403);
    assert.equal(endpoints.json.code, 'missing_scope');
  });

  it('client credentials: refuses a wrong secret, and scopes beyond the registration', async () => {
    const { client, secret } = await register({});
    await assert.rejects(
      clientCredentials(client, `${secret}x`),
      (error) => error instanceof oauth.WWWAuthenticateChallengeError && error.status === 401,
    );
    await assert.rejects(
      clientCredentials(client, secret, 'events:write'),
      (error) => (error as oauth.ResponseBodyError).error === 'invalid_scope',
    );
  });

  it('code with PKCE: a person logs in, allows it, and the token tells their profile; refresh; revoke [world]', async () => {
    const { client } = await publicClient();
    const tokens = await codeGrant({ client });
    assert.equal(tokens.scope, 'profile:read');
    assert.deepEqual(await me(tokens.access_token), {
      status: 200,
      json: { id: person.profileId, followers_count: 1815 },
    });

    const renewed = await refresh(client, tokens.refresh_token ?? '');
    assert.notEqual(renewed.refresh_token, tokens.refresh_token);
    assert.equal((await me(renewed.access_token, second.url)).status, 200);

    const revocation = await oauth.revocationRequest(
      server,
      client,
      oauth.None(),
      renewed.access_token,
      INSECURE,
    );
    await oauth.processRevocationResponse(revocation);
    for (const { url } of [system, second]) {
      const gone = await until(
        () => me(renewed.access_token, url),
        ({ status }) => status === 401,
      );
      assert.equal(gone.json['code'], 'revoked_token');
    }
  });

  it('a refresh token that is used twice ends the whole grant', async () => {
    const { client } = await publicClient();
    const tokens = await codeGrant({ client });
    const renewed = await refresh(client, tokens.refresh_token ?? '');
    const refused = (error: unknown) => (error as oauth.ResponseBodyError).error === 'invalid_grant';
    await assert.rejects(refresh(client, tokens.refresh_token ?? ''), refused);
    await assert.rejects(refresh(client, renewed.refresh_token ?? ''), refused);
    const gone = await until(
      () => me(renewed.access_token),
      ({ status }) => status === 401,
    );
    assert.equal(gone.json['code'], 'revoked_token');
  });

  it('a client that the person does not trust with more gets only what they hold', async () => {
    const { client } = await register({
      grant_types: ['authorization_code'],
      redirect_uris: [REDIRECT_URI],
      token_endpoint_auth_method: 'none',
      scopes: ['profile:read', 'events:write'],
    });
    const tokens = await codeGrant({ client }, 'profile:read events:write');
    assert.equal(tokens.scope, 'profile:read');
    assert.equal(tokens.refresh_token, undefined);
  });

  it('refuses a request without PKCE, and an address that is not registered', async () => {
    const { client } = await publicClient();
    const { left } = await new Browser().go(authorizationUrl(client, { scope: 'profile:read', state: 's' }));
    assert.equal(left?.searchParams.get('error'), 'invalid_request');
    const elsewhere = await new Browser().go(
      authorizationUrl(client, { scope: 'profile:read', redirect_uri: 'http://127.0.0.1:10/other' }),
    );
    assert.equal(elsewhere.status, 400);
    assert.equal(elsewhere.left, undefined);
    assert.match(elsewhere.text, /redirect_uri/);
  });

  it('does not let a login of one account count for another account’s client [world]', async () => {
    const { client } = await publicClient();
    const browser = new Browser();
    await codeGrant({ client }, 'profile:read', browser);
    const stranger = await system.account();
    const theirs = await register(
      {
        grant_types: ['authorization_code'],
        redirect_uris: [REDIRECT_URI],
        token_endpoint_auth_method: 'none',
      },
      stranger,
    );
    const page = await browser.go(
      authorizationUrl(theirs.client, {
        scope: 'profile:read',
        code_challenge: await oauth.calculatePKCECodeChallenge(oauth.generateRandomCodeVerifier()),
        code_challenge_method: 'S256',
      }),
    );
    assert.match(page.text, /<h1>Log in<\/h1>/);
    const tried = await browser.go(formAction(page.text, system.url), {
      login_name: person.loginName,
      password: person.password,
    });
    assert.equal(tried.status, 401);
  });

  it('shows pages that run nothing, frame nowhere and escape what they show; and limits tries to log in [world]', async () => {
    const { client } = await publicClient();
    const browser = new Browser();
    const page = await browser.go(
      authorizationUrl(client, {
        scope: 'profile:read',
        code_challenge: await oauth.calculatePKCECodeChallenge(oauth.generateRandomCodeVerifier()),
        code_challenge_method: 'S256',
        login_hint: '"><script>',
      }),
    );
    assert.match(
      page.headers.get('content-security-policy') ?? '',
      /^default-src 'none';.*frame-ancestors 'none'/,
    );
    assert.ok(page.text.includes('Test &#60;application&#62;'));
    assert.ok(!page.text.includes('<script>'));
    const statuses = [];
    for (let n = 0; n < 6; n++) {
      const form = { login_name: 'nobody', password: 'wrong' };
      statuses.push((await browser.go(formAction(page.text, system.url), form)).status);
    }
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429]);
  });

  it('introspects tokens of the same account alone', async () => {
    const { client, secret } = await register({});
    const { access_token } = await clientCredentials(client, secret);
    const ask = async (who: { client: oauth.Client; secret: string }) => {
      const auth = oauth.ClientSecretBasic(who.secret);
      const response = await oauth.introspectionRequest(server, who.client, auth, access_token, INSECURE);
      return oauth.processIntrospectionResponse(server, who.client, response);
    };
    const colleague = await ask(await register({}));
    assert.equal(colleague.active, true);
    assert.equal(colleague.scope, 'profile:read');
    assert.equal(colleague['account_id'], account.accountId);
    assert.deepEqual(await ask(await register({}, await system.account())), { active: false });
  });

  it('a client that is removed takes its tokens along', async () => {
    const { client, secret } = await register({});
    const { access_token } = await clientCredentials(client, secret);
    assert.equal((await me(access_token)).status, 200);
    assert.equal((await account.request('DELETE', `/v18.0/oauth_clients/${client.client_id}`)).status, 204);
    await until(
      () => me(access_token),
      ({ json }) => json['code'] === 'revoked_token',
    );
    await assert.rejects(clientCredentials(client, secret));
  });

  it('tells a token that has expired from one that never was', async () => {
    const token = 'x'.repeat(43);
    assert.equal((await me(token)).json['code'], 'invalid_token');
    await system.database.oauthRecords.save(
      'ClientCredentials',
      token.replace('x', 'y'),
      { clientId: 'c', extra: { account_id: account.accountId }, exp: Math.floor(Date.now() / 1_000) - 1 },
      0,
    );
    assert.equal((await me(token.replace('x', 'y'))).json['code'], 'expired_token');
  });
});
