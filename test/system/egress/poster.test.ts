import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock } from 'node:test';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { createAddressPolicy } from '../../../packages/egress/src/addresses/index.js';
import { createAddressGuard, createPoster } from '../../../packages/egress/src/index.js';
import { exposedGc } from '../../../src/bin/process/garbage.js';
import { issueServerCertificate, loadOrCreateAuthority } from '../../../src/demo/certificates.js';
import { mockMonotonic } from '../../support/clock.js';
import { startConnectProxy } from '../../support/outside/connect-proxy.js';
import { post } from '../../support/outside/post.js';
import { promised } from '../../support/promised.js';
import {
  hangUp,
  neverAnswer,
  reply,
  startReceiver,
  testAuthority,
  testCertificate,
} from '../../support/receiver.js';
import { until } from '../../support/until.js';

type Poster = ReturnType<typeof createPoster>;

const policy = createAddressPolicy({
  allowedNetworks: ['127.0.0.0/8', '::1/128'],
  deniedNetworks: [],
  allowedPorts: ['1-65535'],
});
const posters: Poster[] = [];

async function poster(more: Partial<Parameters<typeof createPoster>[0]> = {}): Promise<Poster> {
  const extraCa = [readFileSync((await testAuthority()).certFile, 'utf8')];
  const made = createPoster({ guard: createAddressGuard({ policy }), extraCa, ...more });
  posters.push(made);
  return made;
}

describe('the poster', () => {
  afterEach(async () => {
    for (const made of posters.splice(0)) await made.close();
  });

  it('reuses a connection, and no request waits for another', async () => {
    const receiver = await startReceiver({ tls: false });
    const one = await poster();
    for (let number = 0; number < 5; number += 1)
      assert.equal((await post(one, receiver.url)).statusCode, 200);
    assert.ok(receiver.connections < 5);
    receiver.handle(neverAnswer);
    const all = Promise.all(Array.from({ length: 100 }, () => post(one, receiver.url, 20_000)));
    await receiver.waitFor(({ length }) => length === 5 + 100);
    assert.ok(receiver.connections <= 5 + 100);
    await receiver.close();
    assert.ok((await all).every(({ error_code }) => error_code !== undefined));
  });

  it('gives an exchange all of its time if the endpoint closes the connection that it was to use', async () => {
    const receiver = await startReceiver({ tls: false });
    const resolveName = async () => {
      await delay(60);
      return { addresses: [{ address: '127.0.0.1', family: 4 as const }], ttlMs: 0 };
    };
    const sockets: Socket[] = [];
    receiver.handle((request, response) => {
      sockets.push(request.socket);
      response.end();
    });
    const one = await poster({ guard: createAddressGuard({ policy, resolveName }) });
    const url = `http://shop.test:${receiver.port}`;
    assert.equal((await post(one, url, 20_000)).statusCode, 200);
    // Its connection is free again, and its time is over.
    await turn();
    const later = performance.now() + 60_000;
    mockMonotonic(() => later);
    // undici hears of it before it sends on that connection, and connects again in the name of the exchange before.
    sockets[0]?.destroy();
    assert.equal((await post(one, url, 20_000)).statusCode, 200);
    assert.equal(receiver.connections, 2);
    mock.restoreAll();
    await receiver.close();
  });

  it('keeps nothing of an exchange that is over, though its time is not [world]', async () => {
    const receiver = await startReceiver({ tls: false });
    const one = await poster();
    const exchanged = async () => {
      // The client takes it as well, and it can be watched, other than a text.
      const body = Buffer.from('{}') as unknown as string & Buffer;
      const request = { method: 'POST', url: receiver.url, headers: {}, body, timeoutMs: 60_000 } as const;
      assert.ok('statusCode' in (await one.exchange(request)));
      return new WeakRef<Buffer>(body);
    };
    const kept = [await exchanged(), await exchanged(), await exchanged()];
    // The idle connection may know the last request.
    await exchanged();
    const collect = exposedGc();
    await until(
      () => {
        collect();
        return kept.filter((body) => body.deref() !== undefined).length;
      },
      (count) => count === 0,
    );
    await receiver.close();
  });

  it('says where each exchange went and which steps it took, however many are under way at once [world]', async () => {
    const receivers = await Promise.all([startReceiver(), startReceiver({ tls: false })]);
    const proxy = await startConnectProxy();
    const direct = await poster();
    const proxied = await poster({ egressProxy: proxy.url });
    try {
      for (const [one, steps] of [
        [direct, ['dns', 'connect']],
        [proxied, ['dns', 'connect']],
      ] as const) {
        for (const { url } of receivers) {
          const made = url.startsWith('https') ? [...steps, 'tls'] : steps;
          const fresh = await Promise.all(Array.from({ length: 20 }, () => post(one, url)));
          for (const { trace } of fresh) {
            assert.equal(trace.address, '127.0.0.1');
            assert.deepEqual(Object.keys(trace.timings), [...made, 'first_byte']);
          }
          const kept = await post(one, url);
          assert.deepEqual(Object.keys(kept.trace.timings), ['first_byte']);
          assert.equal(kept.trace.address, '127.0.0.1');
        }
      }
    } finally {
      await proxy.close();
      for (const receiver of receivers) await receiver.close();
    }
  });

  it('says how far a failed exchange got', async () => {
    const one = await poster();
    const mute = await startReceiver({ handler: neverAnswer });
    // Time for the handshake on a slow machine.
    const unanswered = await post(one, mute.url, 3_000);
    assert.deepEqual(Object.keys(unanswered.trace.timings), ['dns', 'connect', 'tls']);
    assert.equal(unanswered.trace.address, '127.0.0.1');
    await mute.close();
    const refused = await post(one, mute.url);
    assert.equal(refused.error_code, 'connection_refused');
    assert.deepEqual(Object.keys(refused.trace.timings), ['dns']);
    assert.equal(refused.trace.address, undefined);
    const unknown = await post(one, 'https://does-not-exist.invalid/');
    assert.equal(unknown.trace.address, undefined);
  });

  it('says what is wrong with a certificate', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hookline-test-'));
    const names = { dns: ['localhost'], ips: ['127.0.0.1'] };
    const cases = [
      ['tls_certificate_untrusted', await issueServerCertificate(await loadOrCreateAuthority(folder), names)],
      [
        'tls_name_mismatch',
        await issueServerCertificate(await testAuthority(), { dns: ['other.example'], ips: [] }),
      ],
    ] as const;
    try {
      for (const [code, certificate] of cases) {
        const receiver = await startReceiver({ certificate });
        const answer = await post(await poster(), receiver.url);
        await receiver.close();
        assert.equal(answer.error_code, code);
        assert.equal(receiver.received.length, 0);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('says what is wrong with a connection', async () => {
    const plain = await startReceiver({ tls: false });
    const mute = await startReceiver({ handler: hangUp });
    const garbage = createTcpServer((socket) => void socket.end('no HTTP at all\r\n\r\n'));
    garbage.listen(0, '127.0.0.1');
    await new Promise((resolve) => garbage.once('listening', resolve));
    const { port } = garbage.address() as AddressInfo;
    const one = await poster();
    const codeOf = async (url: string) => (await post(one, url)).error_code;
    try {
      assert.equal(await codeOf(`https://localhost:${plain.port}`), 'tls_handshake_failed');
      assert.equal(await codeOf(mute.url), 'connection_reset');
      assert.equal(await codeOf(`http://127.0.0.1:${port}`), 'malformed_response');
      await mute.close();
      assert.equal(await codeOf(mute.url), 'connection_refused');
      assert.equal(await codeOf('https://does-not-exist.invalid/'), 'dns_failure');
    } finally {
      await plain.close();
      garbage.close();
    }
  });

  it('reads 64 KiB of headers, and says so of more', async () => {
    const receiver = await startReceiver();
    const one = await poster();
    const of = (kib: number) => ({ 'x-long': 'x'.repeat(kib * 1_024) });
    try {
      receiver.handle(reply(200, of(63)));
      assert.equal((await post(one, receiver.url)).statusCode, 200);
      receiver.handle(reply(200, of(65)));
      const { error_code, error } = await post(one, receiver.url);
      assert.deepEqual(
        [error_code, error],
        ['response_headers_too_large', 'the headers of the response have more than 64 KiB'],
      );
      assert.equal(receiver.received.at(-1)?.headers['accept-encoding'], 'identity');
    } finally {
      await receiver.close();
    }
  });

  it('follows no redirect', async () => {
    const target = await startReceiver();
    const receiver = await startReceiver({ handler: reply(307, { location: target.url }) });
    try {
      assert.equal((await post(await poster(), receiver.url)).statusCode, 307);
      assert.equal(target.received.length, 0);
    } finally {
      await receiver.close();
      await target.close();
    }
  });

  it('keeps what has arrived of a body that is too long, too slow or cut off', async () => {
    const receiver = await startReceiver();
    const one = await poster();
    const connections = new Set<unknown>();
    const bodies: [start: string, end: (response: ServerResponse) => void][] = [
      ['x'.repeat(100_000), () => {}],
      ['slow', () => {}],
      ['cut', (response) => response.destroy()],
    ];
    try {
      for (const [start, end] of bodies) {
        receiver.handle(({ socket }, response) => {
          connections.add(socket);
          response.writeHead(500, { 'content-length': 1_000_000 });
          response.write(start, () => end(response));
        });
        // Time for the headers on a slow machine; a body that is too slow takes all of it.
        const answer = await post(one, receiver.url, 3_000);
        const read = start.slice(0, 16_384);
        assert.deepEqual(
          [answer.statusCode, answer.body, answer.bodyBytes, answer.bodySha256, answer.isCut],
          [500, read, read.length, hash('sha256', read), true],
        );
      }
      // No connection on which a body is unfinished is used again.
      assert.equal(connections.size, bodies.length);
    } finally {
      await receiver.close();
    }
  });

  it('tells a body that ends from one that goes on, to the byte', async () => {
    const receiver = await startReceiver();
    const one = await poster();
    try {
      for (const [length, isCut] of [
        [0, false],
        [16_384, false],
        [16_385, true],
      ] as const)
        for (const header of [
          ['content-length', String(length)],
          ['transfer-encoding', 'chunked'],
        ] as const) {
          receiver.handle(reply(200, Object.fromEntries([header]), 'x'.repeat(length)));
          const answer = await post(one, receiver.url);
          assert.deepEqual([answer.bodyBytes, answer.isCut], [Math.min(length, 16_384), isCut], `${length}`);
          assert.equal(answer.bodySha256 === undefined, length === 0);
        }
    } finally {
      await receiver.close();
    }
  });

  it('takes no informational answer for the answer', async () => {
    const receiver = await startReceiver({
      handler(_, response) {
        response.writeEarlyHints({ link: '</style.css>; rel=preload' });
        response.writeHead(204).end();
      },
    });
    try {
      const answer = await post(await poster(), receiver.url);
      assert.deepEqual([answer.statusCode, answer.headers?.['link']], [204, undefined]);
    } finally {
      await receiver.close();
    }
  });

  it('sends nothing on a connection that opens too late', async () => {
    const receiver = await startReceiver();
    let ended = 0;
    const { promise: late, resolve: open } = promised();
    const relay = createTcpServer(async (client) => {
      client.on('error', () => {}).once('close', () => ended++);
      await late;
      const server = connect(receiver.port, '127.0.0.1', () => client.pipe(server).pipe(client));
      server.on('error', () => {});
    });
    relay.listen(0, '127.0.0.1');
    await new Promise((resolve) => relay.once('listening', resolve));
    const url = `https://localhost:${(relay.address() as AddressInfo).port}`;
    const one = await poster();
    try {
      assert.equal((await post(one, url, 2_000)).error_code, 'timeout');
      open();
      await until(
        () => ended,
        (count) => count === 1,
      );
      assert.equal((await post(one, url)).statusCode, 200);
      assert.equal(receiver.received.length, 1);
    } finally {
      relay.close();
      await receiver.close();
    }
  });

  it('shows its certificate to an endpoint that asks for one', async () => {
    const ca = await testAuthority();
    const server = createServer(
      {
        ...(await testCertificate()),
        requestCert: true,
        rejectUnauthorized: false,
      },
      (request, response) => {
        response.end((request.socket as TLSSocket).getPeerCertificate().subjectaltname ?? 'nobody');
      },
    );
    server.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `https://localhost:${(server.address() as AddressInfo).port}`;
    try {
      const clientCertificate = await issueServerCertificate(ca, { dns: ['hookline.example'], ips: [] });
      const known = await post(await poster({ clientCertificate }), url);
      assert.deepEqual([known.statusCode, known.body], [200, 'DNS:hookline.example']);
      const both = await poster({ clientCertificate });
      const own = await issueServerCertificate(ca, { dns: ['endpoint.example'], ips: [] });
      const pair = { certificate: own.cert, private_key: own.key };
      for (const [certificate, name] of [
        [pair, 'DNS:endpoint.example'],
        [undefined, 'DNS:hookline.example'],
        [pair, 'DNS:endpoint.example'],
      ] as const) {
        const request = { method: 'POST', url, headers: {}, timeoutMs: 5_000 } as const;
        const answer = await both.exchange({ ...request, clientCertificate: certificate });
        assert.equal('body' in answer && answer.body, name);
      }
      const unknown = await post(await poster(), url);
      assert.equal(unknown.body, 'nobody');
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('reports a proxy that does not open the connection', async () => {
    const refusing = await startReceiver({ tls: false, handler: reply(403) });
    try {
      const one = await poster({ egressProxy: refusing.url });
      assert.equal((await post(one, 'https://127.0.0.1:9/')).error_code, 'proxy_failed');
    } finally {
      await refusing.close();
    }
  });
});
