import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { startConnectProxy } from '../../../test/support/outside/connect-proxy.js';
import { type HostileDns, startHostileDns } from '../../../test/support/outside/hostile-dns.js';
import { post } from '../../../test/support/outside/post.js';
import { BlockedAddressError, createAddressGuard } from '../src/address-guard.js';
import { createAddressPolicy } from '../src/addresses/address-policy.js';
import { dnsServers } from '../src/names/dns-query.js';
import { createPoster } from '../src/poster.js';

/** As good as public here, and as good as private. */
const OUTSIDE = '127.0.0.1';
const INSIDE = '127.0.0.2';

const policy = createAddressPolicy({
  allowedNetworks: [`${OUTSIDE}/32`],
  deniedNetworks: [],
  allowedPorts: ['1024-65535'],
});

describe('the address guard', () => {
  let server: Server;
  let port: number;
  let reached: string[];

  before(async () => {
    server = createServer((request, response) => {
      reached.push(request.socket.localAddress ?? '');
      response.writeHead(200, { connection: 'close' }).end('inner secret');
    });
    server.listen(0, '0.0.0.0');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });
  beforeEach(() => {
    reached = [];
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const withDns = async (
    answer: (name: string, asked: number) => string[],
    use: (poster: ReturnType<typeof createPoster>, dns: HostileDns) => Promise<void>,
    more: Partial<Parameters<typeof createAddressGuard>[0]> & { egressProxy?: string; ttl?: number } = {},
  ): Promise<void> => {
    const { egressProxy, ttl = 0, ...guardOptions } = more;
    const dns = await startHostileDns(answer, { ttl });
    const guard = createAddressGuard({ policy, resolveName: dnsServers([dns.address]), ...guardOptions });
    const poster = createPoster({ guard, extraCa: [], egressProxy });
    try {
      await use(poster, dns);
    } finally {
      await poster.close();
      await dns.close();
    }
  };

  it('connects to localhost at the address of it that is allowed', async () => {
    for (const [network, address, other] of [
      ['127.0.0.0/8', '127.0.0.1', '::1'],
      ['::1/128', '::1', '127.0.0.1'],
    ] as const) {
      const only = createAddressPolicy({
        allowedNetworks: [network],
        deniedNetworks: [],
        allowedPorts: ['1-65535'],
      });
      const guard = createAddressGuard({
        policy: only,
        resolveName: async () => ({
          addresses: [address, other].map((one) => ({ address: one, family: isIP(one) })),
        }),
      });
      const { addresses } = await guard.resolve('localhost', 8080);
      assert.deepEqual(
        addresses.map((one) => one.address),
        [address],
      );
      await assert.rejects(guard.resolve('localhost.example.com', 8080), BlockedAddressError);
    }
  });

  it('is not fooled by a name that leads outside when it is checked and inside when it is connected to', async () => {
    await withDns(
      (_name, asked) => [asked % 2 === 0 ? OUTSIDE : INSIDE],
      async (poster, dns) => {
        const outcomes: string[] = [];
        for (let attempt = 0; attempt < 20; attempt += 1) {
          const answer = await post(poster, `http://rebind.test:${port}/`);
          outcomes.push(String(answer.statusCode ?? answer.error_code));
        }
        // One question for each connection: the address that was checked is the one that is used.
        assert.equal(dns.questions.length, 20);
        assert.deepEqual(new Set(outcomes), new Set(['200', 'blocked_address']));
        assert.equal(outcomes.filter((outcome) => outcome === '200').length, 10);
        assert.deepEqual(new Set(reached), new Set([OUTSIDE]));
      },
    );
  });

  it('refuses a name with one address inside, whatever the order', async () => {
    for (const addresses of [
      [OUTSIDE, INSIDE],
      [INSIDE, OUTSIDE],
    ]) {
      await withDns(
        () => addresses,
        async (poster) => {
          const answer = await post(poster, `http://mixed.test:${port}/`);
          assert.equal(answer.error_code, 'blocked_address');
        },
      );
    }
    assert.deepEqual(reached, []);
  });

  it('reveals nothing about inner addresses', async () => {
    await withDns(
      () => [INSIDE],
      async (poster) => {
        const open = await post(poster, `http://inner.test:${port}/`);
        const shut = await post(poster, `http://inner.test:1025/`);
        assert.deepEqual(open, shut);
        assert.ok(!JSON.stringify(open).includes(INSIDE));
      },
    );
  });

  it('checks what is kept of a look-up at each connection', async () => {
    const ownPorts: number[] = [];
    await withDns(
      (name) => [name === 'inner.test' ? INSIDE : OUTSIDE],
      async (poster, dns) => {
        const codes = async (name: string) => {
          const { statusCode, error_code } = await post(poster, `http://${name}:${port}/`);
          return statusCode ?? error_code;
        };
        for (const _ of [1, 2]) assert.equal(await codes('outside.test'), 200);
        for (const _ of [1, 2]) assert.equal(await codes('inner.test'), 'blocked_address');
        ownPorts.push(port);
        assert.equal(await codes('outside.test'), 'blocked_address');
        assert.deepEqual(dns.questions, ['outside.test', 'inner.test']);
      },
      { ttl: 60, ownPorts: () => ownPorts },
    );
    assert.deepEqual(reached, [OUTSIDE, OUTSIDE]);
  });

  it('checks where a connection has led in fact, and sends nothing if that is not allowed', async () => {
    const checked: unknown[] = [];
    const guard = {
      resolve: async () => ({ addresses: [{ address: OUTSIDE, family: 4 }] }),
      check(...where: unknown[]) {
        checked.push(where);
        throw new BlockedAddressError();
      },
    };
    const poster = createPoster({ guard, extraCa: [] });
    try {
      assert.equal((await post(poster, `http://led.test:${port}/`)).error_code, 'blocked_address');
      assert.deepEqual(checked, [[OUTSIDE, port]]);
      assert.deepEqual(reached, []);
    } finally {
      await poster.close();
    }
  });

  it('refuses literal addresses, and ports that the policy does not have', async () => {
    await withDns(
      () => [OUTSIDE],
      async (poster) => {
        for (const url of [`http://${INSIDE}:${port}/`, `http://[::1]:${port}/`, 'http://outside.test:81/']) {
          const answer = await post(poster, url);
          assert.equal(answer.error_code, 'blocked_address', url);
        }
      },
    );
  });

  it("refuses the service's own listeners where this machine's addresses are allowed", async () => {
    await withDns(
      () => [OUTSIDE],
      async (poster) => {
        const answer = await post(poster, `http://own.test:${port}/`);
        assert.equal(answer.error_code, 'blocked_address');
        for (const literal of [OUTSIDE, `[::ffff:${OUTSIDE}]`, '[::ffff:7f00:1]']) {
          const answer = await post(poster, `http://${literal}:${port}/`);
          assert.equal(answer.error_code, 'blocked_address', literal);
        }
      },
      { ownPorts: () => [port] },
    );
    assert.deepEqual(reached, []);
  });

  it('refuses them at each address of this machine, not at those of its loopback alone', () => {
    const everywhere = createAddressPolicy({
      allowedNetworks: ['0.0.0.0/0', '::/0'],
      deniedNetworks: [],
      allowedPorts: ['1024-65535'],
    });
    const guard = createAddressGuard({ policy: everywhere, ownPorts: () => [port] });
    for (const { address } of Object.values(networkInterfaces()).flatMap((some) => some ?? [])) {
      assert.throws(() => guard.check(address, port), BlockedAddressError, address);
      guard.check(address, port === 65_535 ? 65_534 : port + 1);
    }
  });

  it('checks addresses before an egress proxy is asked, and gives it addresses only', async () => {
    const proxy = await startConnectProxy();
    try {
      await withDns(
        (name) => [name === 'inner.test' ? INSIDE : OUTSIDE],
        async (poster) => {
          const through = await post(poster, `http://outside.test:${port}/`);
          assert.equal(through.statusCode, 200);
          const blocked = await post(poster, `http://inner.test:${port}/`);
          assert.equal(blocked.error_code, 'blocked_address');
        },
        { egressProxy: proxy.url },
      );
      assert.deepEqual(proxy.asked, [`${OUTSIDE}:${port}`]);
    } finally {
      await proxy.close();
    }
  });
});
