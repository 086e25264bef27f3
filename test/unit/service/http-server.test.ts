import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { listen, timeLimits } from '../../../src/bin/service/http-server.js';
import { loadSettings } from '../../../src/config/load.js';

/** A limit that no test waits for, milliseconds. */
const NEVER = 3_600_000;

const answerOf = async (environment: Record<string, string>) => {
  const { HOOKLINE_HOST, HOOKLINE_KEEP_ALIVE } = loadSettings(environment);
  const server = await listen({ HOOKLINE_HOST, HOOKLINE_PORT: 0, HOOKLINE_KEEP_ALIVE });
  server.answer((_request, response) => response.end());
  try {
    return await fetch(server.url);
  } finally {
    // The connection of the answer is idle now: it is closed with the server.
    await server.close({ requestMs: NEVER, responseMs: NEVER });
  }
};

describe('an idle connection of a caller', () => {
  it('is kept longer than load balancers keep theirs, which is 60 s', async () => {
    const { headers } = await answerOf({});
    assert.equal(headers.get('connection'), 'keep-alive');
    assert.equal(headers.get('keep-alive'), 'timeout=75');
  });

  it('has its first request taken as late as it is kept, and any request has five minutes at least', () => {
    for (const keepAliveMs of [1_000, 75_000, 3_600_000]) {
      const { keepAliveTimeout, headersTimeout, requestTimeout } = timeLimits(keepAliveMs);
      assert.equal(keepAliveTimeout, keepAliveMs);
      assert.ok(headersTimeout > keepAliveMs && requestTimeout >= headersTimeout);
      assert.ok(requestTimeout >= 300_000);
    }
  });

  it('is kept as long as is set, also beyond the time for a request', async () => {
    for (const [text, seconds] of [
      ['620s', 620],
      ['1h', 3_600],
    ] as const)
      assert.equal(
        (await answerOf({ HOOKLINE_KEEP_ALIVE: text })).headers.get('keep-alive'),
        `timeout=${seconds}`,
      );
    for (const text of ['0s', '2h', 'soon']) assert.throws(() => loadSettings({ HOOKLINE_KEEP_ALIVE: text }));
  });
});

describe('a server that is closed', () => {
  const HEAD = 'POST /x HTTP/1.1\r\nhost: x\r\n';
  /** More than the buffers of a connection take. */
  const MUCH = Buffer.alloc(64 * 2 ** 20);
  let server: Awaited<ReturnType<typeof listen>>;
  let sockets: Socket[];
  /** Lets the response to `/held` go. */
  let release: () => void;

  beforeEach(async () => {
    server = await listen({ HOOKLINE_HOST: '127.0.0.1', HOOKLINE_PORT: 0, HOOKLINE_KEEP_ALIVE: NEVER });
    sockets = [];
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
  });

  /** A connection that sends a text, and then is silent. It does not close its side by itself. */
  async function client(text: string): Promise<Socket> {
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => {});
    sockets.push(socket);
    await once(socket, 'connect');
    socket.write(text);
    return socket;
  }

  /** Handles requests, and resolves when so many have come. */
  function serve(count: number): Promise<void> {
    return new Promise((resolve) => {
      let left = count;
      server.answer((request, response) => {
        if (request.url === '/held') release = () => response.end('the held one');
        else if (request.url === '/much') response.end(MUCH);
        else request.once('end', () => response.end('here')).resume();
        left -= 1;
        if (left === 0) resolve();
      });
    });
  }

  it('ends connections that have sent no request, or not all of its head, at once, and idle ones', async () => {
    const served = serve(1);
    const asked = await client('GET /x HTTP/1.1\r\nhost: x\r\n\r\n');
    await Promise.all([served, once(asked, 'data'), ...['', 'PO', HEAD].map(client)]);
    await server.close({ requestMs: NEVER, responseMs: NEVER });
  });

  it('waits a moment for the rest of a request, and as long as it may for a response', async () => {
    const served = serve(2);
    const [unfinished, held] = await Promise.all([
      client(`${HEAD}content-length: 100\r\n\r\nseven b`),
      client('GET /held HTTP/1.1\r\nhost: x\r\n\r\n'),
    ]);
    await served;
    const closed = server.close({ requestMs: 0, responseMs: NEVER });
    await once(unfinished.resume(), 'end');
    release();
    const [answer] = await once(held, 'data');
    assert.match(String(answer), /^HTTP\/1\.1 200 OK\r\nconnection: close\r\n.*the held one$/is);
    await closed;
  });

  it('ends a connection whose response is not read, and one of another protocol, at the limit', async () => {
    const served = serve(1);
    const upgraded = new Promise<void>((resolve) => server.upgrade(() => resolve()));
    const websocket = 'GET /x HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n';
    await client('GET /much HTTP/1.1\r\nhost: x\r\n\r\n');
    await client(websocket);
    await Promise.all([served, upgraded]);
    await server.close({ requestMs: NEVER, responseMs: 0 });
  });
});
