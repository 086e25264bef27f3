import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import {
  MAX_PROVIDER_CALLS,
  newChallenge,
  OpenIdProvider,
  type ProviderFetch,
  ProviderUnavailableError,
  SignInRefusedError,
} from '../../../src/api/openid/provider.js';
import { claimIn } from '../../../src/domain/access/desk-session.js';
import { QueueFullError } from '../../../src/domain/basics/bounded-queue.js';
import { promised } from '../../support/promised.js';
import { until } from '../../support/until.js';

const ISSUER = 'https://login.example.com/staff';
const CLIENT = {
  issuer: ISSUER,
  clientId: 'hookline',
  clientSecret: 'a-secret',
  scope: 'openid',
  redirectUri: 'https://hooks.example.com/desk/signed-in',
  rolesIn: (claims: object) => claimIn(claims, '/access/roles'),
};
const METADATA = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize?tenant=7`,
  token_endpoint: `${ISSUER}/token`,
  jwks_uri: `${ISSUER}/keys`,
  userinfo_endpoint: `${ISSUER}/me`,
  // What a provider says that it signs with is not what is accepted.
  id_token_signing_alg_values_supported: ['ES256', 'none', 'HS256'],
};
const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const foreign = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const JWKS = { keys: [{ ...own.publicKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256' }] };

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

function signed(claims: object, { alg = 'ES256', key = own.privateKey } = {}): string {
  const input = `${encoded({ alg, typ: 'JWT' })}.${encoded(claims)}`;
  const signatures: Record<string, () => string> = {
    ES256: () => sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url'),
    HS256: () => createHmac('sha256', CLIENT.clientSecret).update(input).digest('base64url'),
    none: () => '',
  };
  return `${input}.${signatures[alg]?.()}`;
}

const seconds = () => Math.floor(Date.now() / 1_000);

describe('an OpenID provider', () => {
  const challenge = newChallenge();
  const claims = () => ({
    iss: ISSUER,
    aud: 'hookline',
    sub: 'u-1',
    nonce: challenge.nonce,
    iat: seconds(),
    exp: seconds() + 300,
    access: { roles: ['ops'] },
  });
  /** A provider whose responses are these, by path, and the requests to it. */
  const providerWith = (responses: Record<string, () => Response>, client = CLIENT) => {
    const asked: { url: string; body: string | undefined; authorization: string | undefined }[] = [];
    const all: Record<string, () => Response> = {
      '/staff/.well-known/openid-configuration': () => Response.json(METADATA),
      '/staff/keys': () => Response.json(JWKS),
      ...responses,
    };
    const fetch: ProviderFetch = async (url, { body, headers }) => {
      asked.push({ url, body, authorization: headers['authorization'] });
      const respond = all[new URL(url).pathname];
      assert.ok(respond, url);
      return respond();
    };
    return { asked, provider: new OpenIdProvider(client, fetch) };
  };
  const tokens = (idToken: unknown) => () =>
    Response.json({ access_token: 'an-access-token', token_type: 'Bearer', id_token: idToken });
  const answer = (more: Record<string, string> = {}) =>
    new URLSearchParams({ code: 'a-code', state: challenge.state, ...more });

  it('is asked for a code with PKCE, state and nonce; its metadata are read once', async () => {
    const { provider, asked } = providerWith({});
    const url = new URL(await provider.authorizationUrl(challenge));
    await provider.authorizationUrl(challenge);
    assert.equal(url.href.split('?')[0], `${ISSUER}/authorize`);
    const { code_challenge, ...rest } = Object.fromEntries(url.searchParams);
    assert.match(String(code_challenge), /^[\w-]{43}$/);
    assert.notEqual(code_challenge, challenge.verifier);
    assert.deepEqual(rest, {
      tenant: '7',
      response_type: 'code',
      client_id: 'hookline',
      redirect_uri: CLIENT.redirectUri,
      scope: 'openid',
      state: challenge.state,
      nonce: challenge.nonce,
      code_challenge_method: 'S256',
    });
    assert.equal(asked.length, 1);
  });

  it('gives the claims for the code, and those of UserInfo if the ID token lacks the roles', async () => {
    const { access, ...few } = claims();
    // Also if the ID token has other things in the claim that the roles stand in.
    for (const idToken of [signed(claims()), signed(few), signed({ ...few, access: { scope: 'mail' } })]) {
      const { provider, asked } = providerWith({
        '/staff/token': tokens(idToken),
        '/staff/me': () => Response.json({ sub: 'u-1', access, email: 'ada@example.com' }),
      });
      assert.deepEqual((await provider.person(answer(), challenge)).roles, access.roles);
      const { body, authorization } = asked.find(({ url }) => url.endsWith('/token')) ?? {};
      const form = Object.fromEntries(new URLSearchParams(body));
      assert.equal(form['code_verifier'], challenge.verifier);
      assert.equal(form['client_secret'], undefined);
      assert.equal(authorization, `Basic ${btoa('hookline:a%2Dsecret')}`);
    }
    const { provider } = providerWith({
      '/staff/token': tokens(signed(few)),
      '/staff/me': () => Response.json({ sub: 'u-2', access }),
    });
    await assert.rejects(provider.person(answer(), challenge), SignInRefusedError);
  });

  const refused: Record<string, () => string> = {
    'with the nonce of another sign-in': () => signed({ ...claims(), nonce: newChallenge().nonce }),
    'without a nonce': () => signed({ ...claims(), nonce: undefined }),
    'for another client': () => signed({ ...claims(), aud: 'another' }),
    'for several clients, issued to another': () =>
      signed({ ...claims(), aud: ['hookline', 'another'], azp: 'another' }),
    'of another issuer': () => signed({ ...claims(), iss: 'https://login.example.com/customers' }),
    'that has expired': () => signed({ ...claims(), exp: seconds() - 61 }),
    'without an end': () => signed({ ...claims(), exp: undefined }),
    'of the algorithm none': () => signed(claims(), { alg: 'none' }),
    'signed with the client secret': () => signed(claims(), { alg: 'HS256' }),
    'signed with another key': () => signed(claims(), { key: foreign.privateKey }),
    'whose claims were changed': () => {
      const [head, , signature] = signed(claims()).split('.');
      return [head, encoded({ ...claims(), sub: 'u-2' }), signature].join('.');
    },
  };
  for (const [what, idToken] of Object.entries(refused))
    it(`signs nobody in by a response ${what}`, async () => {
      const { provider } = providerWith({ '/staff/token': tokens(idToken()) });
      await assert.rejects(provider.person(answer(), challenge), SignInRefusedError);
    });

  it('signs nobody in by another state, another issuer, no code, or an error', async () => {
    const { provider, asked } = providerWith({});
    const answers = [
      answer({ state: newChallenge().state }),
      new URLSearchParams({ code: 'a-code' }),
      answer({ iss: 'https://evil.example' }),
      new URLSearchParams({ state: challenge.state, error: 'access_denied' }),
      new URLSearchParams(`code=a&code=b&state=${challenge.state}`),
      new URLSearchParams({ state: challenge.state }),
    ];
    for (const one of answers)
      await assert.rejects(provider.person(one, challenge), SignInRefusedError, String(one));
    assert.ok(!asked.some(({ url }) => url.endsWith('/token')));
  });

  it('whose code was used or has expired refuses, while an error about Hookline is the installation’s', async () => {
    const error = (code: string) => () => Response.json({ error: code }, { status: 400 });
    const used = providerWith({ '/staff/token': error('invalid_grant') });
    await assert.rejects(used.provider.person(answer(), challenge), SignInRefusedError);
    const unknown = providerWith({ '/staff/token': error('invalid_client') });
    await assert.rejects(unknown.provider.person(answer(), challenge), {
      name: 'ProviderUnavailableError',
      message: /400 \(invalid_client\)/,
    });
  });

  it('is unavailable if its keys, UserInfo or tokens have another status, or are not JSON', async () => {
    const { access, ...few } = claims();
    const broken = [
      () => new Response('nope', { status: 404 }),
      () => Response.json({ error: 'no' }, { status: 403 }),
      () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
      () => new Response('{', { headers: { 'content-type': 'application/json' } }),
      () => new Response(null, { status: 302, headers: { location: `${ISSUER}/elsewhere` } }),
      () => Response.json({}),
      () => Response.json([]),
    ];
    for (const path of ['/staff/keys', '/staff/me', '/staff/token'])
      for (const respond of broken) {
        const { provider } = providerWith({ '/staff/token': tokens(signed(few)), [path]: respond });
        await assert.rejects(
          provider.person(answer(), challenge),
          ProviderUnavailableError,
          `${path} ${respond}`,
        );
      }
  });

  it('is unavailable if its keys, tokens or metadata lack what they must have, which the log is told', async () => {
    const key = JWKS.keys[0];
    const keys = (some: unknown) => ({ '/staff/keys': () => Response.json({ keys: some }) });
    const metadata = (more: object) => ({
      '/staff/.well-known/openid-configuration': () => Response.json({ ...METADATA, ...more }),
    });
    const { '/staff/keys': none } = keys(undefined);
    const told: [responses: Record<string, () => Response>, RegExp][] = [
      [{ '/staff/keys': none }, /"keys" property must be an array/],
      [keys(['a']), /must be JWK formatted objects/],
      [keys([]), /no applicable keys/],
      [keys([key, key]), /multiple applicable keys/],
      [keys([{ ...key, x: 'AA' }]), /./],
      [metadata({ jwks_uri: undefined }), /jwks_uri/],
      [metadata({ jwks_uri: 'no URL' }), /jwks_uri/],
      [metadata({ token_endpoint: undefined }), /token_endpoint/],
      [{ '/staff/token': tokens(undefined) }, /"id_token" property/],
      [{ '/staff/token': tokens(7) }, /"id_token" property/],
      [{ '/staff/token': tokens('opaque') }, /Invalid JWT/],
      [{ '/staff/token': tokens('a.b.c.d.e') }, /JWE/],
      [{ '/staff/token': () => Response.json({ access_token: 't', token_type: 'mac' }) }, /token_type/],
    ];
    for (const [responses, message] of told) {
      const { provider } = providerWith({ '/staff/token': tokens(signed(claims())), ...responses });
      const name = 'ProviderUnavailableError';
      await assert.rejects(provider.person(answer(), challenge), { name, message }, String(message));
    }
  });

  it('gets a few calls at once, and those beyond are refused', async () => {
    const { promise: gate, resolve: finish } = promised();
    let asked = 0;
    const provider = new OpenIdProvider(CLIENT, async (url) => {
      if (!url.endsWith('/token')) return Response.json(METADATA);
      asked += 1;
      await gate;
      return Response.json({ error: 'invalid_grant' }, { status: 400 });
    });
    await provider.authorizationUrl(challenge);
    const ask = () => provider.person(answer(), challenge);
    const first = Array.from({ length: MAX_PROVIDER_CALLS }, () => assert.rejects(ask(), SignInRefusedError));
    await until(
      () => asked,
      (count) => count === MAX_PROVIDER_CALLS,
    );
    await assert.rejects(ask(), QueueFullError);
    finish();
    await Promise.all(first);
    await assert.rejects(ask(), SignInRefusedError);
    assert.equal(asked, MAX_PROVIDER_CALLS + 1);
  });

  it('is unavailable without HTTPS, with the metadata of another, or if it fails; it is asked again then', async () => {
    const metadata = (more: object) => () => Response.json({ ...METADATA, ...more });
    const bad: (() => Response)[] = [
      metadata({ issuer: 'https://login.example.com' }),
      metadata({ authorization_endpoint: 'http://login.example.com/authorize' }),
      metadata({ authorization_endpoint: 'javascript:alert(1)' }),
      metadata({ authorization_endpoint: undefined }),
      () => new Response('nope', { status: 503 }),
      () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
      () => new Response(null, { status: 302 }),
      () => {
        throw Object.assign(new Error('no'), { code: 'ECONNREFUSED' });
      },
    ];
    for (const respond of bad) {
      const { provider } = providerWith({ '/staff/.well-known/openid-configuration': respond });
      await assert.rejects(provider.authorizationUrl(challenge), ProviderUnavailableError, String(respond));
    }
    let fails = true;
    const { provider } = providerWith({
      '/staff/.well-known/openid-configuration': () =>
        fails ? new Response(null, { status: 500 }) : Response.json(METADATA),
    });
    await assert.rejects(provider.authorizationUrl(challenge), ProviderUnavailableError);
    fails = false;
    await provider.authorizationUrl(challenge);
  });

  it('is sent nothing where its token endpoint is not https', async () => {
    const insecure = { ...METADATA, token_endpoint: 'http://login.example.com/staff/token' };
    const { provider, asked } = providerWith({
      '/staff/.well-known/openid-configuration': () => Response.json(insecure),
    });
    await assert.rejects(provider.person(answer(), challenge), ProviderUnavailableError);
    assert.equal(asked.length, 1);
  });
});
