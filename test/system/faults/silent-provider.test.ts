import assert from 'node:assert/strict';
import { newId } from '../../../src/domain/basics/ids.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { startSystem, type TestSystem } from '../../support/system.js';

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

  it('that is silent, sends its response piece by piece, or is gone, is given up before ten seconds are over [world]', async () => {
    const timed = async () => {
      const began = performance.now();
      const { status, json } = await begin();
      assert.equal(status, 502, JSON.stringify(json));
      assert.equal(json['code'], 'identity_provider_unavailable');
      assert.ok(performance.now() - began < 10_000);
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
});
