import { deepEqual, equal, match } from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { openStream } from '../../support/outside/listener.js';
import {
  PROXIED,
  type SharedSystem,
  sharedSystem,
  startSystem,
  type TestSystem,
} from '../../support/system.js';

/** Headers that Java's client sends with its first request to an address without TLS. */
const OFFER = {
  connection: 'Upgrade, HTTP2-Settings',
  upgrade: 'h2c',
  'http2-settings': 'AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA',
};

describe('a request for another protocol', () => {
  let system: SharedSystem;
  /** Where guesses count by address, and other requests by token. */
  let limited: TestSystem;
  before(async () => {
    system = await sharedSystem();
    limited = await startSystem(
      { ...PROXIED, HOOKLINE_RATE_LIMIT_ADDRESS: '20/1d', HOOKLINE_RATE_LIMIT_TOKEN: '5/1d' },
      'api',
    );
  });
  after(() => limited.stop());

  /** @param body posted as an event */
  async function send({ key }: ApiClient, agent: Agent, body?: string) {
    const path = body === undefined ? '/v18.0/session' : '/v18.0/events/purchase';
    const sent = request(`${system.url}${path}`, {
      agent,
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...OFFER },
    });
    sent.end(body);
    const [answer] = await once(sent, 'response');
    await json(answer);
    return answer.statusCode as number;
  }

  it('is answered as any other if it only offers HTTP/2', async () => {
    const client = await system.account();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const bodies = [undefined, PURCHASE, undefined];
    const answers: number[] = [];
    for (const body of bodies) answers.push(await send(client, agent, body));
    agent.destroy();
    deepEqual(answers, [200, 202, 200]);
  });

  it('keeps no connection once it was refused, whatever its sender does', async () => {
    // It does not end its side when the other ends, and goes on writing: that fails only if the other side is gone.
    const socket = connect({
      port: Number(new URL(system.url).port),
      host: '127.0.0.1',
      allowHalfOpen: true,
    });
    const writes = setInterval(() => socket.write('more'), 10);
    let answer = '';
    socket.on('data', (bytes) => {
      answer += bytes;
    });
    socket.on('error', () => {}); // of a write: `close` follows
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write('GET /v18.0/listeners/other/stream HTTP/1.1\r\nHost: localhost\r\n');
    socket.write('Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    await closed;
    clearInterval(writes);
    match(answer, /^HTTP\/1\.1 404 /);
  });

  describe('without a valid ticket', () => {
    const guess = async (address: string) => {
      const sent = request(`${limited.url}/v18.0/listeners/ep_${'0'.repeat(26)}/stream`, {
        headers: {
          connection: 'Upgrade',
          upgrade: 'websocket',
          authorization: 'Bearer wrong',
          'x-forwarded-for': address,
        },
      });
      sent.end();
      const [answer] = await once(sent, 'response');
      answer.resume();
      return answer as IncomingMessage;
    };

    it('counts against its address, as every request: who goes on guessing gets 429, and nobody else', async () => {
      const answers: IncomingMessage[] = [];
      for (let tries = 0; tries <= 20; tries += 1) answers.push(await guess('192.0.2.1'));
      const last = answers.at(-1);
      equal(last?.statusCode, 429);
      equal(answers[0]?.statusCode, 401);
      equal(answers.at(-2)?.statusCode, 401);
      match(String(last?.headers['retry-after']), /^\d+$/);
      equal((await guess('192.0.2.2')).statusCode, 401);
      // A key that is valid is not kept out by its address.
      const { request: send } = await limited.account();
      const headers = { 'x-forwarded-for': '192.0.2.1' };
      equal((await send('GET', '/v18.0/session', { headers })).status, 200);
    });
  });

  it('with a valid ticket counts against the token that the ticket was given to', async () => {
    const { request: ask } = await limited.account();
    const body = { event_kinds: ['purchase'] };
    const { json: listener } = await ask('POST', '/v18.0/listeners', { body });
    const tickets: string[] = [];
    for (let one = 0; one < 2; one += 1)
      tickets.push((await ask('POST', `/v18.0/listeners/${listener.id}/tickets`)).json.ticket);
    const open = async (ticket = '') => {
      const socket = openStream(limited.url, listener.id, ticket);
      const said = await once(socket, 'open').then(
        () => 'open',
        ({ message }: Error) => message,
      );
      socket.terminate();
      return said;
    };
    equal(await open(tickets[0]), 'open');
    equal((await ask('GET', '/v18.0/session')).status, 200, 'the fifth');
    match(await open(tickets[1]), /429/);
  });
});
