import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { Agent, request } from 'undici';
import {
  endlessBody,
  type Handler,
  hangUp,
  inTurn,
  neverAnswer,
  type Receiver,
  reply,
  stalledBody,
  startReceiver,
  testAuthority,
} from '../../support/receiver.js';

describe('test receiver', () => {
  let agent: Agent;
  let receiver: Receiver;

  before(async () => {
    agent = new Agent({ connect: { ca: await readFile((await testAuthority()).certFile, 'utf8') } });
  });
  after(() => agent.close());
  afterEach(() => receiver.close());

  const post = (options: { body?: string; signal?: AbortSignal; id?: string } = {}) =>
    request(`${receiver.url}/hook?a=1`, {
      dispatcher: agent,
      method: 'POST',
      body: options.body ?? '{}',
      headers: { 'webhook-id': options.id ?? 'evt_1' },
      ...(options.signal && { signal: options.signal }),
    });

  for (const tls of [true, false]) {
    it(`records what it receives over ${tls ? 'https' : 'http'}`, async () => {
      receiver = await startReceiver({ tls });
      assert.equal(receiver.connections, 0);
      const { statusCode, body } = await post({ body: '{"a":12.50}' });
      await body.dump();
      assert.equal(statusCode, 200);
      const [entry] = await receiver.waitFor((received) => received[0]?.over === true);
      assert.equal(entry?.method, 'POST');
      assert.equal(entry?.path, '/hook?a=1');
      assert.equal(entry?.body.toString(), '{"a":12.50}');
      assert.equal(entry?.headers['webhook-id'], 'evt_1');
      assert.equal(entry?.answered, 200);
      assert.equal(receiver.connections, 1);
    });
  }

  it('answers each event by its own attempts', async () => {
    receiver = await startReceiver({
      handler: inTurn(reply(503, { 'retry-after': '1' }), hangUp, reply(204)),
    });
    assert.equal((await post()).statusCode, 503);
    assert.equal((await post({ id: 'evt_2' })).statusCode, 503);
    await assert.rejects(post(), { code: 'UND_ERR_SOCKET' });
    assert.equal((await post()).statusCode, 204);
    receiver.handle(reply(410));
    assert.equal((await post()).statusCode, 410);
  });

  it('never answers, until the caller gives up', async () => {
    receiver = await startReceiver({ handler: neverAnswer });
    const caller = new AbortController();
    const gaveUp = assert.rejects(post({ signal: caller.signal }));
    await receiver.waitFor((received) => received.length === 1);
    caller.abort();
    await gaveUp;
    const [entry] = await receiver.waitFor((received) => received[0]?.over === true);
    assert.equal(entry?.answered, undefined);
  });

  const bodies: [string, Handler][] = [
    ['a stalled', stalledBody(202)],
    ['an endless', endlessBody(202)],
  ];
  for (const [name, handler] of bodies) {
    it(`sends ${name} body, until the caller closes`, async () => {
      receiver = await startReceiver({ handler });
      const { statusCode, body } = await post();
      assert.equal(statusCode, 202);
      await once(body, 'readable');
      body.on('error', () => {});
      body.destroy();
      const [entry] = await receiver.waitFor((received) => received[0]?.over === true);
      assert.equal(entry?.answered, undefined);
    });
  }

  it('counts connections on which nothing was sent, and ends them', async () => {
    receiver = await startReceiver();
    const silent = connect(receiver.port, '127.0.0.1');
    const closed = once(silent, 'close').catch(() => {}); // a reset is as good an end
    await once(silent, 'connect');
    await (await post()).body.dump();
    assert.equal(receiver.connections, 2);
    await receiver.close();
    await closed;
  });
});
