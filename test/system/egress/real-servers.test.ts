import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { mock } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { createAddressPolicy } from '../../../packages/egress/src/addresses/index.js';
import type { ResolveName } from '../../../packages/egress/src/index.js';
import { createAddressGuard, createPoster, dnsServers } from '../../../packages/egress/src/index.js';
import { connectorOptions } from '../../../src/bin/service/egress.js';
import { loadSettings } from '../../../src/config/load.js';
import { issueServerCertificate } from '../../../src/demo/certificates.js';
import { startConnectProxy } from '../../support/outside/connect-proxy.js';
import { startHostileDns } from '../../support/outside/hostile-dns.js';
import { post } from '../../support/outside/post.js';
import { reply, startReceiver, testAuthority, testCertificate } from '../../support/receiver.js';
import { until } from '../../support/until.js';

const policy = createAddressPolicy({
  allowedNetworks: ['127.0.0.0/8', '::1/128'],
  deniedNetworks: [],
  allowedPorts: ['1-65535'],
});
const ends: (() => unknown)[] = [];

/** A poster for which every name leads to the same addresses. */
async function poster(
  addresses: readonly string[] = ['127.0.0.1'],
  more: Partial<Parameters<typeof createPoster>[0]> & { ttlMs?: number } = {},
) {
  const { ttlMs = 0, ...options } = more;
  const resolveName: ResolveName = async () => ({
    addresses: addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    ttlMs,
  });
  const extraCa = [readFileSync((await testAuthority()).certFile, 'utf8')];
  const made = createPoster({ guard: createAddressGuard({ policy, resolveName }), extraCa, ...options });
  ends.push(() => made.close());
  return made;
}

/** @returns its port */
async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  server.listen(0, host);
  await once(server, 'listening');
  ends.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

/**
 * Times for which an action calls `setTimeout`, milliseconds: other systems of this process wait for something all the
 * time.
 */
async function waitsOf(act: () => Promise<unknown>): Promise<number[]> {
  const ours = new AsyncLocalStorage<true>();
  const waits: number[] = [];
  const { setTimeout: original } = globalThis;
  const { mock: watched } = mock.method(globalThis, 'setTimeout', (...args: Parameters<typeof original>) => {
    if (ours.getStore()) waits.push(args[1] ?? 0);
    return original(...args);
  });
  ends.push(() => watched.restore());
  await ours.run(true, act);
  watched.restore();
  return waits;
}

/** A server that answers each request with these bytes, in pieces, whatever it was. */
async function rawServer(...pieces: string[]): Promise<{ url: string; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', async () => {
      for (const piece of pieces) await new Promise((sent) => socket.write(piece, sent));
    });
    ends.push(() => socket.destroy());
  });
  return { url: `http://raw.test:${await listen(server)}/`, sockets };
}

describe('what real servers do', () => {
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  describe('an informational answer', () => {
    const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
    for (const [name, pieces] of [
      ['100, in one piece with the answer', [`HTTP/1.1 100 Continue\r\n\r\n${OK}`]],
      ['100, before the answer', ['HTTP/1.1 100 Continue\r\n\r\n', OK]],
      ['100, in pieces', ['HTTP/1.1 10', '0 Continue\r\n', 'x-a: b\r\n\r', '\n', OK]],
      ['100 twice, then 103', ['HTTP/1.1 100\r\n\r\n'.repeat(2), 'HTTP/1.1 103 Early Hints\r\n\r\n', OK]],
      ['102', ['HTTP/1.1 102 Processing\r\n\r\n', OK]],
    ] as const) {
      it(`${name}: is passed over, and the connection goes on`, async () => {
        const { url, sockets } = await rawServer(...pieces);
        const one = await poster();
        for (let number = 0; number < 5; number += 1) {
          const { statusCode, body, error } = await post(one, url);
          assert.deepEqual([statusCode, body, error], [200, 'ok', undefined]);
        }
        // A request that comes at the very end of another one has a connection of its own.
        assert.ok(sockets.length < 5);
      });
    }

    it('that is followed by nothing but more of them is given up', async () => {
      const { url } = await rawServer('HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000));
      assert.equal((await post(await poster(), url)).error_code, 'malformed_response');
    });

    it('that switches protocols, which nobody asked for, is no answer', async () => {
      const { url } = await rawServer(
        'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n',
      );
      assert.equal((await post(await poster(), url)).error_code, 'malformed_response');
    });
  });

  it('that a body has two lengths, or a length and chunks, is told as it is', async () => {
    for (const framing of [
      'content-length: 2\r\ncontent-length: 2',
      'content-length: 2\r\ncontent-length: 3',
      'content-length: 2\r\ntransfer-encoding: chunked',
      'transfer-encoding: chunked\r\ncontent-length: 0',
    ]) {
      const { url } = await rawServer(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\nok`);
      assert.equal((await post(await poster(), url)).error_code, 'malformed_response', framing);
    }
  });

  it('that a client certificate is required is told as it is, before the handshake is over and after it', async () => {
    const ca = await testAuthority();
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const options = { ...(await testCertificate()), ca: readFileSync(ca.certFile), maxVersion };
      const server = createHttpsServer({ ...options, requestCert: true }, (_, response) => {
        response.end('known');
      });
      ends.push(() => server.closeAllConnections());
      const url = `https://localhost:${await listen(server)}/`;
      assert.equal((await post(await poster(), url)).error_code, 'tls_handshake_failed', maxVersion);
    }
  });

  it('a name with a dot at its end has none in SNI', async () => {
    const names: unknown[] = [];
    const certificate = await issueServerCertificate(await testAuthority(), {
      dns: ['dotted.test'],
      ips: [],
    });
    const server = createHttpsServer(certificate, (request, response) => {
      names.push((request.socket as TLSSocket & { servername?: string }).servername, request.headers.host);
      response.end();
    });
    ends.push(() => server.closeAllConnections());
    const port = await listen(server);
    const { statusCode, error } = await post(await poster(), `https://dotted.test.:${port}/`);
    assert.deepEqual([statusCode, error], [200, undefined]);
    assert.deepEqual(names, ['dotted.test', `dotted.test.:${port}`]);
  });

  it('one address of a name refuses, and the other answers, directly and through a proxy', async () => {
    const receiver = await startReceiver({ tls: false });
    ends.push(() => receiver.close());
    const url = `http://two.test:${receiver.port}/`;
    const addresses = ['::1', '127.0.0.9', '127.0.0.1'];
    const direct = await post(await poster(addresses), url);
    assert.deepEqual([direct.statusCode, direct.trace.address], [200, '127.0.0.1']);
    const proxy = await startConnectProxy();
    ends.push(() => proxy.close());
    const proxied = await post(await poster(addresses, { egressProxy: proxy.url }), url);
    assert.deepEqual([proxied.statusCode, proxied.trace.address], [200, '127.0.0.1']);
    const { port } = receiver;
    assert.deepEqual(proxy.asked, [`[::1]:${port}`, `127.0.0.9:${port}`, `127.0.0.1:${port}`]);
  });

  it('a proxy is at an IPv6 address', async () => {
    const receiver = await startReceiver();
    ends.push(() => receiver.close());
    const proxy = await startConnectProxy('::1');
    ends.push(() => proxy.close());
    const { statusCode, error } = await post(
      await poster(undefined, { egressProxy: proxy.url }),
      `https://localhost:${receiver.port}/`,
    );
    assert.deepEqual([statusCode, error], [200, undefined]);
    assert.equal(proxy.asked.length, 1);
  });

  it('a question for IPv6 is never answered, and the address for IPv4 is used', async () => {
    const receiver = await startReceiver({ tls: false });
    ends.push(() => receiver.close());
    const dns = await startHostileDns(() => ['127.0.0.1'], { v6: () => 'silence' });
    ends.push(() => dns.close());
    const guard = createAddressGuard({ policy, resolveName: dnsServers([dns.address]) });
    const answer = await post(await poster([], { guard }), `http://half.test:${receiver.port}/`);
    assert.equal(answer.statusCode, 200);
  });

  it('no DNS server answers: that is told, and not that the endpoint was slow', async () => {
    const dns = await startHostileDns(() => 'silence', { v6: () => 'silence' });
    ends.push(() => dns.close());
    const guard = createAddressGuard({ policy, resolveName: dnsServers([dns.address]) });
    const { error_code, error, trace } = await post(await poster([], { guard }), 'https://silent.test/', 300);
    assert.equal(error_code, 'dns_failure');
    assert.match(error ?? '', /no DNS server responded/);
    assert.deepEqual(trace.timings, {});
  });

  it('a connection has all of the time of its attempt to open', async () => {
    const receiver = await startReceiver({ tls: false });
    ends.push(() => receiver.close());
    const one = await poster(['127.0.0.1'], { maxAgeMs: 1_000_000 });
    const waits = await waitsOf(() => post(one, `http://slow.test:${receiver.port}/`, 7_000));
    const limits = waits.filter((ms) => ms < 1_000_000);
    // Of the attempt, and of the connection that is made for it.
    assert.ok(limits.filter((ms) => ms >= 4_000 && ms <= 7_001).length >= 2, limits.join());
    assert.deepEqual(
      limits.filter((ms) => ms >= 100 && ms < 4_000),
      [],
    );
  });

  it('a connection lasts no longer than DNS says that the address is good, nor than the setting', async () => {
    const receiver = await startReceiver({ tls: false });
    ends.push(() => receiver.close());
    const lasts = async (options: { ttlMs: number; maxAgeMs?: number }) => {
      const one = await poster(undefined, options);
      return Math.max(...(await waitsOf(() => post(one, `http://aging.test:${receiver.port}/`))));
    };
    const aMinute = await lasts({ ttlMs: 60_000 });
    assert.ok(aMinute > 50_000 && aMinute <= 60_000, String(aMinute));
    assert.equal(await lasts({ ttlMs: 300_000, maxAgeMs: 40_000 }), 40_000);
    const { HOOKLINE_CONNECTION_AGE: set } = loadSettings({ HOOKLINE_CONNECTION_AGE: '1m' });
    const made = await connectorOptions(loadSettings({ HOOKLINE_CONNECTION_AGE: '1m' }), policy, () => []);
    assert.deepEqual([set, made.maxAgeMs], [60_000, 60_000]);
  });

  it('a name moves: its connections end with their age, none of them in the midst of an answer', async () => {
    const receiver = await startReceiver({ tls: false });
    ends.push(() => receiver.close());
    const one = await poster(undefined, { maxAgeMs: 100 });
    const url = `http://moving.test:${receiver.port}/`;
    let answer = () => {};
    receiver.handle((_, response) => {
      answer = () => response.end();
    });
    const slow = post(one, url);
    await receiver.waitFor(({ length }) => length === 1);
    // Longer than its age, while the exchange goes on.
    await new Promise((resolve) => setTimeout(resolve, 150).ref());
    answer();
    assert.equal((await slow).statusCode, 200);
    receiver.handle(reply(200));
    assert.equal((await post(one, url)).statusCode, 200);
    assert.equal(receiver.connections, 2, 'the old connection took no further request');
    await until(
      async () => {
        await post(one, url);
        return receiver.connections;
      },
      (connections) => connections > 2,
    );
  });
});
