import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createAddressGuard } from '../../activities/http/address-guard.js';
import { createPoster } from '../../activities/http/poster.js';
import {
  createAuthority,
  issueServerCertificate,
  type ServerCertificate,
} from '../../src/demo/certificates.js';
import {
  endlessBody,
  type Handler,
  hangUp,
  neverAnswer,
  type Receiver,
  reply,
  stalledBody,
  startReceiver,
  testAuthority,
} from '../support/receiver.js';

const LOOPBACK = ['127.0.0.0/8', '::1/128'];
const LIMIT_MS = 400;
const HOUR = 3_600_000;

type Poster = ReturnType<typeof createPoster>;

describe('the HTTP poster', () => {
  let poster: Poster;
  let receiver: Receiver | undefined;
  let raw: Server | undefined;

  before(async () => {
    poster = createPoster({ guard: createAddressGuard(LOOPBACK), extraCa: [(await testAuthority()).cert] });
  });
  after(() => poster.close());
  afterEach(async () => {
    await receiver?.close();
    receiver = undefined;
    raw?.close();
    raw = undefined;
  });

  const post = (url: string, body = '{}', timeoutMs = 5_000, from = poster) =>
    from.post(url, { 'content-type': 'application/json', 'webhook-id': 'evt_1' }, body, timeoutMs);
  const receive = async (handler: Handler, certificate?: ServerCertificate): Promise<Receiver> => {
    receiver = await startReceiver({ handler, ...(certificate && { certificate }) });
    return receiver;
  };
  /** A server that speaks no TLS and says what it likes. */
  async function speak(onSocket: (socket: Socket) => void): Promise<number> {
    raw = createServer((socket) => {
      socket.on('error', () => {});
      onSocket(socket);
    }).listen(0, '127.0.0.1');
    await once(raw, 'listening');
    return (raw.address() as AddressInfo).port;
  }

  for (const status of [200, 201, 204, 299, 400, 404, 410, 500, 503]) {
    it(`reports an answer of ${status}`, async () => {
      const { url } = await receive(reply(status));
      assert.equal((await post(url)).status_code, status);
    });
  }

  it('sends the body and the headers as they are given', async () => {
    const { url, received } = await receive(reply(200));
    const body = '{"a":12.50,"b":"Žluť"}';
    await post(`${url}/hook?a=1`, body);
    const [request] = received;
    assert.equal(request?.method, 'POST');
    assert.equal(request?.path, '/hook?a=1');
    assert.equal(request?.body.toString(), body);
    assert.equal(request?.headers['webhook-id'], 'evt_1');
    assert.equal(request?.headers['content-length'], String(Buffer.byteLength(body)));
  });

  it('keeps a few headers, shortened, and the start of the body', async () => {
    const { url } = await receive(
      reply(
        503,
        { 'retry-after': '5', 'x-request-id': 'r'.repeat(300), 'set-cookie': 'session=1', server: 'test' },
        'é'.repeat(3_000),
      ),
    );
    const result = await post(url);
    assert.equal(result.retry_after, '5');
    assert.equal(result.response_headers?.['server'], 'test');
    assert.equal(result.response_headers?.['x-request-id']?.length, 256);
    assert.equal(result.response_headers?.['set-cookie'], undefined);
    assert.equal(result.response_snippet, 'é'.repeat(1_024));
  });

  it('follows no redirect', async () => {
    const elsewhere = await startReceiver();
    try {
      for (const status of [301, 302, 303, 307, 308]) {
        const { url } = await receive(reply(status, { location: `${elsewhere.url}/` }));
        assert.equal((await post(url)).status_code, status);
        await receiver?.close();
      }
      assert.equal(elsewhere.connections, 0);
    } finally {
      await elsewhere.close();
    }
  });

  it('gives up at the limit where no answer comes', async () => {
    const { url } = await receive(neverAnswer);
    const began = performance.now();
    const result = await post(url, '{}', LIMIT_MS);
    assert.ok(performance.now() - began >= LIMIT_MS - 5);
    assert.deepEqual(result, { error_code: 'timeout', error: 'no answer within 400ms' });
    await receiver?.waitFor((all) => all[0]?.over === true);
  });

  it('gives up at the limit where the TLS handshake never ends', async () => {
    const port = await speak(() => {});
    assert.equal((await post(`https://localhost:${port}`, '{}', LIMIT_MS)).error_code, 'timeout');
  });

  it('takes an answer whose body stalls by its status, with what has come', async () => {
    const { url } = await receive(stalledBody(202, 'first'));
    const result = await post(url, '{}', LIMIT_MS);
    assert.equal(result.status_code, 202);
    assert.equal(result.error_code, undefined);
  });

  it('reads no more than 16 KiB of a body without end, and closes the connection', async () => {
    const { url } = await receive(endlessBody(200));
    const result = await post(url, '{}', 20_000);
    assert.equal(result.status_code, 200);
    assert.equal(result.response_snippet, 'x'.repeat(1_024));
    await receiver?.waitFor((all) => all[0]?.over === true);
  });

  it('refuses headers without end', async () => {
    const { url } = await receive(reply(200, { 'x-long': 'x'.repeat(20_000) }));
    assert.equal((await post(url)).error_code, 'malformed_response');
  });

  it('reports an answer that is no HTTP', async () => {
    const plain = createPoster({ guard: createAddressGuard(LOOPBACK), extraCa: [] });
    try {
      const port = await speak((socket) => void socket.end('SSH-2.0-OpenSSH_9.9\r\n'));
      const result = await post(`http://localhost:${port}`, '{}', 5_000, plain);
      assert.equal(result.error_code, 'malformed_response');
    } finally {
      await plain.close();
    }
  });

  it('reports a connection that is closed instead of an answer', async () => {
    const { url } = await receive(hangUp);
    assert.equal((await post(url)).error_code, 'connection_reset');
  });

  it('reports a refused connection', async () => {
    const { url, close } = await startReceiver();
    await close();
    assert.equal((await post(url)).error_code, 'connection_refused');
  });

  it('reports a name that cannot be resolved', async () => {
    assert.equal((await post('https://does-not-exist.invalid/')).error_code, 'dns_failure');
  });

  describe('with a certificate that', () => {
    const cases: [string, string, () => Promise<ServerCertificate>][] = [
      [
        'is expired',
        'tls_certificate_expired',
        async () =>
          issueServerCertificate(
            await testAuthority(),
            { dns: ['localhost'], ips: [] },
            { notBefore: new Date(Date.now() - 2 * HOUR), notAfter: new Date(Date.now() - HOUR) },
          ),
      ],
      [
        'is not valid yet',
        'tls_certificate_expired',
        async () =>
          issueServerCertificate(
            await testAuthority(),
            { dns: ['localhost'], ips: [] },
            { notBefore: new Date(Date.now() + HOUR) },
          ),
      ],
      [
        'is for another host',
        'tls_name_mismatch',
        async () => issueServerCertificate(await testAuthority(), { dns: ['other.example'], ips: [] }),
      ],
      [
        'an unknown authority signed',
        'tls_certificate_untrusted',
        async () =>
          issueServerCertificate(await createAuthority('Somebody else'), { dns: ['localhost'], ips: [] }),
      ],
      ['signs itself', 'tls_certificate_untrusted', () => createAuthority('localhost')],
    ];
    for (const [what, code, certificate] of cases) {
      it(`${what}: nothing is sent, and it says ${code}`, async () => {
        const { url, received } = await receive(reply(200), await certificate());
        assert.equal((await post(url)).error_code, code);
        assert.equal(received.length, 0);
      });
    }

    it('is not there at all: it says tls_handshake_failed', async () => {
      const port = await speak((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
      assert.equal((await post(`https://localhost:${port}`)).error_code, 'tls_handshake_failed');
    });
  });

  describe('where only public addresses are allowed', () => {
    let strict: Poster;
    before(async () => {
      strict = createPoster({ guard: createAddressGuard([]), extraCa: [(await testAuthority()).cert] });
    });
    after(() => strict.close());

    const hosts = [
      'localhost',
      '127.0.0.1',
      '127.1',
      '0x7f000001',
      '2130706433',
      '0177.0.0.1',
      '127.0.0.1.',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '0.0.0.0',
      '[::]',
    ];
    for (const host of hosts) {
      it(`makes no connection to ${host}`, async () => {
        const { port } = await receive(reply(200));
        const result = await post(`https://${host}:${port}/`, '{}', 5_000, strict);
        assert.equal(result.error_code, 'blocked_address', JSON.stringify(result));
        assert.equal(receiver?.connections, 0);
        assert.ok(!/127|::1/.test(result.error ?? ''), 'the words name no address');
      });
    }
  });
});
