import assert from 'node:assert/strict';
import { MAX_PROVIDER_CALLS } from '../../../src/api/openid/provider.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { type Handler, type Receiver, startReceiver } from '../../support/receiver.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('an identity provider', () => {
  let provider: Receiver;
  let system: TestSystem;
  before(async () => {
    provider = await startReceiver({ handler: () => {} });
    system = await startSystem(
      {
        HOOKLINE_OIDC_ISSUER: provider.url,
        HOOKLINE_OIDC_CLIENT_ID: 'hookline',
        HOOKLINE_OIDC_ACCOUNT: newId('account'),
        HOOKLINE_OIDC_ACT_ROLES: 'ops',
      },
      'api',
    );
  });
  after(async () => {
    await system?.stop();
    await provider?.close();
  });

  const begin = async () => {
    const response = await fetch(`${system.url}/sign_in/openid`, { method: 'POST' });
    return { status: response.status, json: (await response.json()) as Record<string, string> };
  };

  it('that is silent, sends its response piece by piece, or is gone, is given up [world]', async () => {
    const timed = async () => {
      const began = performance.now();
      const { status, json } = await begin();
      assert.equal(status, 502, JSON.stringify(json));
      assert.equal(json['code'], 'identity_provider_unavailable');
      assert.ok(performance.now() - began < 30_000);
    };
    await timed();
    provider.handle((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{');
      const timer = setInterval(() => response.write(' '), 100);
      response.once('close', () => clearInterval(timer));
    });
    await timed();
    await provider.close();
    await timed();
  });

  it('that is slow gets a few calls at once; those beyond are told when to come back [world]', async () => {
    let asked = 0;
    const { port } = provider;
    const handler: Handler = ({ url }, response) => {
      if (url === '/token') asked += 1;
      else
        response.writeHead(200, { 'content-type': 'application/json' }).end(
          JSON.stringify({
            issuer: provider.url,
            authorization_endpoint: `${provider.url}/authorize`,
            token_endpoint: `${provider.url}/token`,
          }),
        );
    };
    provider = await startReceiver({ port, handler });
    const finish = async () => {
      const { sign_in, url } = (await begin()).json;
      const state = new URL(String(url)).searchParams.get('state');
      return fetch(`${system.url}/sign_in/openid/response`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ sign_in, response: `code=a-code&state=${state}` }),
      });
    };
    const first = Array.from({ length: MAX_PROVIDER_CALLS }, finish);
    await until(
      () => asked,
      (count) => count === MAX_PROVIDER_CALLS,
    );
    const beyond = await finish();
    assert.equal(beyond.status, 503);
    assert.equal(beyond.headers.get('retry-after'), '2');
    for (const { status } of await Promise.all(first)) assert.equal(status, 502);
  });
});
