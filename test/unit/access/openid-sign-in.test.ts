import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mock } from 'node:test';
import Router from '@koa/router';
import Koa from 'koa';
import type { ApiDependencies, State } from '../../../src/api/http/context.js';
import { openIdRoutes } from '../../../src/api/routes/access/openid-sign-in.js';
import { newSecretKey, parseSecretKeys, SecretBox } from '../../../src/domain/access/secret-box.js';
import { Problem } from '../../../src/domain/http/problem.js';
import { clockOfEach } from '../../support/clock.js';

const ROLE = 'operators';

describe('a sign-in by OpenID Connect', () => {
  let server: Server;
  clockOfEach(1_000_000);
  beforeEach(async () => {
    const dependencies = {
      box: new SecretBox(parseSecretKeys(newSecretKey())),
      openId: {
        authorizationUrl: async () => 'https://login.example.com/authorize',
        person: async () => ({ claims: { sub: 'u-ada' }, roles: [ROLE] }),
      },
      settings: { HOOKLINE_OIDC_ACT_ROLES: [ROLE], HOOKLINE_OIDC_READ_ROLES: [], HOOKLINE_OIDC_SESSION: 1 },
      database: {
        usedTickets: { use: async () => true },
        accounts: { current: async () => ({ status: 'active' }) },
        deskSessions: { create: async () => ({ token: 'a token', session: { expires_at: '' } }) },
      },
    };
    const router = new Router<State>();
    openIdRoutes(router, dependencies as unknown as ApiDependencies);
    const app = new Koa().use(async (ctx, next) => {
      await next().catch((error: unknown) => {
        assert.ok(error instanceof Problem);
        ctx.body = { code: error.code, detail: error.message };
      });
    });
    server = createServer(app.use(router.routes()).callback()).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => server.close());

  const post = async (path: string, body: object = {}) => {
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as Record<string, string>;
  };

  it('is to be completed within ten minutes', async () => {
    const { sign_in } = await post('/sign_in/openid');
    const finish = () => post('/sign_in/openid/response', { sign_in, response: 'code=1' });
    mock.timers.tick(599_999);
    assert.equal((await finish())['token'], 'a token');
    mock.timers.tick(1);
    const { code, detail } = await finish();
    assert.equal(code, 'sign_in_refused');
    assert.match(String(detail), /longer than ten minutes/);
  });
});
