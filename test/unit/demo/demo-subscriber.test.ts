import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { Agent, request } from 'undici';
import { type Received, type Subscriber, startSubscriber } from '../../../src/demo/subscriber.js';
import { testAuthority, testCertificate } from '../../support/receiver.js';
import { WAIT_LIMIT_MS } from '../../support/until.js';

const newSecret = () => `whsec_${randomBytes(24).toString('base64')}`;
const BODY = '{"amount": 12.50, "name": "Zoë"}';

describe('demo subscriber', () => {
  const secret = newSecret();
  let agent: Agent;
  let subscriber: Subscriber;

  before(async () => {
    agent = new Agent({ connect: { ca: (await testAuthority()).cert } });
  });
  after(() => agent.close());

  beforeEach(async () => {
    subscriber = await startSubscriber({ certificate: await testCertificate() });
    subscriber.setSecret(secret);
  });
  afterEach(() => subscriber.close());

  /** Posts as Hookline does; `signedBody` differs from `body` in order to be wrong. */
  async function post(id: string, options: { secret?: string; at?: Date; signedBody?: string } = {}) {
    const at = options.at ?? new Date();
    const { statusCode, headers, body } = await request(subscriber.url, {
      dispatcher: agent,
      method: 'POST',
      body: BODY,
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': new Webhook(options.secret ?? secret).sign(id, at, options.signedBody ?? BODY),
      },
    });
    return { status: statusCode, headers, text: await body.text() };
  }

  const last = () => subscriber.received.at(-1) as Received;

  it('verifies the signature over the raw body and answers 200', async () => {
    assert.equal((await post('evt_1')).status, 200);
    await subscriber.waitFor((received) => received[0]?.answered === 200, WAIT_LIMIT_MS);
    const { verified, verificationError, repeated, path, body, headers } = last();
    assert.deepEqual(
      { verified, verificationError, repeated, path },
      {
        verified: true,
        verificationError: undefined,
        repeated: false,
        path: '/webhooks',
      },
    );
    assert.equal(body.toString(), BODY);
    assert.equal(headers['webhook-id'], 'evt_1');
  });

  it('answers 401 to a changed body, another secret and an old timestamp, and says why', async () => {
    assert.equal((await post('evt_1', { signedBody: BODY.replace('12.50', '12.5') })).status, 401);
    assert.equal((await post('evt_1', { secret: newSecret() })).status, 401);
    assert.equal((await post('evt_1', { at: new Date(Date.now() - 6 * 60_000) })).status, 401);
    assert.deepEqual(
      subscriber.received.map((entry) => entry.verificationError),
      ['No matching signature found', 'No matching signature found', 'Message timestamp too old'],
    );
    assert.ok(subscriber.received.every((entry) => !entry.verified));
  });

  it('trusts nothing until it has a secret, and refuses a malformed one', async () => {
    const fresh = await startSubscriber({ certificate: await testCertificate() });
    try {
      assert.equal(fresh.secret, undefined);
      const answer = await request(fresh.url, { dispatcher: agent, method: 'POST', body: BODY });
      assert.equal(answer.statusCode, 401);
      assert.equal(fresh.received[0]?.verificationError, 'No secret to verify with');
      assert.throws(() => fresh.setSecret('whsec_%%%'));
      assert.equal(fresh.secret, undefined);
    } finally {
      await fresh.close();
    }
  });

  it('knows an event that it has taken before, but not one that it failed or could not verify', async () => {
    subscriber.behave({ failFirst: 1 });
    await post('evt_1', { secret: newSecret() });
    await post('evt_2');
    for (const id of ['evt_1', 'evt_2', 'evt_2', 'evt_3']) await post(id);
    assert.deepEqual(
      subscriber.received.map((entry) => entry.repeated),
      [false, false, false, false, true, false],
    );
  });

  it('fails the first attempts of each event, counted again with each behaviour', async () => {
    subscriber.behave({ failFirst: 2, status: 503, retryAfter: '7' });
    const first = await post('evt_1');
    assert.equal(first.status, 503);
    assert.equal(first.headers['retry-after'], '7');
    assert.equal((await post('evt_2')).status, 503);
    assert.equal((await post('evt_1')).status, 503);
    const third = await post('evt_1');
    assert.equal(third.status, 200);
    assert.equal(third.headers['retry-after'], undefined);
    subscriber.behave({ failFirst: 1 });
    assert.equal((await post('evt_1')).status, 500);
    subscriber.behave({ status: 410 });
    for (const _ of [1, 2, 3]) assert.equal((await post('evt_1')).status, 410);
  });

  it('follows a script, then succeeds', async () => {
    subscriber.behave({
      script: [{ status: 302, headers: { location: '/elsewhere' } }, { body: 'thanks' }, { destroy: true }],
    });
    assert.equal((await post('evt_1')).headers['location'], '/elsewhere');
    assert.equal((await post('evt_1')).text, 'thanks');
    await assert.rejects(post('evt_1'), { code: 'UND_ERR_SOCKET' });
    assert.equal((await post('evt_1')).status, 200);
  });

  it('closes the connection on request', async () => {
    subscriber.behave({ refuse: true, failFirst: 1 });
    const reported = new Promise<Received>((resolve) => subscriber.onReceived(resolve));
    await assert.rejects(post('evt_1'), { code: 'UND_ERR_SOCKET' });
    assert.equal((await reported).answered, undefined);
    assert.equal((await post('evt_1')).status, 200);
  });

  it('answers slowly on request, and notices that the caller gave up', async () => {
    subscriber.behave({ slowMs: 20 });
    const start = performance.now();
    assert.equal((await post('evt_1')).status, 200);
    assert.ok(performance.now() - start >= 19);
    await subscriber.waitFor((received) => received[0]?.answered === 200, WAIT_LIMIT_MS);

    subscriber.behave({ slowMs: 60_000 });
    const reported = new Promise<Received>((resolve) => subscriber.onReceived(resolve));
    const caller = new AbortController();
    const gaveUp = assert.rejects(
      request(subscriber.url, { dispatcher: agent, method: 'POST', body: BODY, signal: caller.signal }),
    );
    await subscriber.waitFor((received) => received.length === 2, WAIT_LIMIT_MS);
    caller.abort();
    await gaveUp;
    assert.equal((await reported).answered, undefined);
  });

  it('says what it waited for when the time is over', async () => {
    await post('evt_1');
    await assert.rejects(
      subscriber.waitFor(() => false, 5),
      new Error('Waited 5 ms in vain; 1 requests received'),
    );
  });

  it('ends open requests and unfinished handshakes when it closes', async () => {
    subscriber.behave({ slowMs: 60_000 });
    const open = assert.rejects(post('evt_1'), { code: 'UND_ERR_SOCKET' });
    const handshake = connect(subscriber.port, '127.0.0.1');
    const handshakeClosed = once(handshake, 'close').catch(() => {}); // a reset is as good an end
    await Promise.all([
      once(handshake, 'connect'),
      subscriber.waitFor((received) => received.length === 1, WAIT_LIMIT_MS),
    ]);
    await subscriber.close();
    await Promise.all([open, handshakeClosed]);
    await subscriber.close(); // once more does no harm
  });

  it('fails to start on a port that is taken', async () => {
    await assert.rejects(startSubscriber({ certificate: await testCertificate(), port: subscriber.port }), {
      code: 'EADDRINUSE',
    });
  });
});
