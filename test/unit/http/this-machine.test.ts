import assert from 'node:assert/strict';
import { isFromThisMachine, ownPageOf } from '../../../src/api/http/caller/this-machine.js';
import type { Context, Development } from '../../../src/api/http/context.js';

const DEVELOPMENT = {} as Development;

const context = (headers: Record<string, string>, remoteAddress = '127.0.0.1') =>
  ({
    req: { headers: { host: '127.0.0.1:8080', ...headers }, socket: { remoteAddress } },
    get: (name: string) => headers[name] ?? '',
  }) as unknown as Context;

describe('a request on this machine', () => {
  it('comes over loopback, to a name of it, and through nothing', () => {
    for (const host of ['127.0.0.1:8080', 'localhost:8080', 'LOCALHOST', '[::1]:8080'])
      for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1'])
        assert.ok(isFromThisMachine(context({ host }, address)), `${host} ${address}`);
  });

  it('is none if it names another host, comes from elsewhere, or was passed on', () => {
    for (const host of [
      'laptop.tunnel.example',
      'rebound.example:8080',
      '127.0.0.1.example',
      '127.0.0.1@example',
      '',
    ])
      assert.ok(!isFromThisMachine(context({ host })), host);
    for (const name of [
      'x-forwarded-for',
      'x-forwarded-host',
      'x-forwarded-proto',
      'forwarded',
      'via',
      'x-real-ip',
      'cf-connecting-ip',
    ])
      assert.ok(!isFromThisMachine(context({ [name]: '127.0.0.1' })), name);
    for (const address of ['192.0.2.1', '10.0.0.1', '', '::ffff:192.0.2.1'])
      assert.ok(!isFromThisMachine(context({}, address)), address);
  });

  it('is of a page of ours if the browser says so', () => {
    const page = (headers: Record<string, string>, development: Development | undefined = DEVELOPMENT) =>
      ownPageOf(context(headers), development);
    assert.equal(page({ origin: 'http://127.0.0.1:8080' }), 'http://127.0.0.1:8080');
    assert.equal(page({ 'sec-fetch-site': 'same-origin' }), 'http://127.0.0.1:8080');
    const others: Record<string, string>[] = [
      {},
      { origin: 'http://127.0.0.1:8233' },
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'http://127.0.0.1:8080', 'x-forwarded-for': '192.0.2.1' },
      { origin: 'http://rebound.example', host: 'rebound.example' },
    ];
    for (const headers of others) assert.equal(page(headers), undefined, JSON.stringify(headers));
    assert.equal(ownPageOf(context({ origin: 'http://127.0.0.1:8080' }), undefined), undefined);
  });
});
