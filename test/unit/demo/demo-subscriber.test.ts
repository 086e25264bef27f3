import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { Agent, request } from 'undici';
import {
  type Behaviour,
  type Received,
  type Subscriber,
  startSubscriber,
} from '../../../src/demo/subscriber.js';
import { testAuthority, testCertificate } from '../../support/receiver.js';
import { until } from '../../support/until.js';

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

  /** In place of the well-behaved one. */
  async function misbehave(behaviour: Behaviour): Promise<void> {
    await subscriber.close();
    subscriber = await startSubscriber({ certificate: await testCertificate(), behaviour });
    subscriber.setSecret(secret);
  }

  /** Posts as Hookline does; `signedBody` differs from `body` in order to be wrong. */
  async function post(id: string, options: { secret?: string; at?: Date; signedBody?: string } = {}) {
    const at = options.at ?? new Date();
    const { statusCode, body } = await request(subscriber.url, {
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
    await body.dump();
    return { status: statusCode };
  }

  const last = () => subscriber.received.at(-1) as Received;

  it('verifies the signature over the raw body and answers 200', async () => {
    assert.equal((await post('evt_1')).status, 200);
    const { verificationError, body, headers } = last();
    assert.equal(verificationError, undefined);
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
  });

  it('has requests wait until it has a secret, and refuses a malformed one', async () => {
    await subscriber.close();
    subscriber = await startSubscriber({ certificate: await testCertificate() });
    const early = post('evt_1');
    assert.throws(() => subscriber.setSecret('whsec_%%%'));
    subscriber.setSecret(secret);
    assert.equal((await early).status, 200);
  });

  it('says that it wants events, also where it fails later, and to nobody else than who has its secret', async () => {
    await misbehave({ refuse: true });
    const ask = async (sentBy: string) => {
      const body = '{"kind":"endpoint.verification","challenge":"the token"}';
      const at = new Date();
      const answer = await request(subscriber.url, {
        dispatcher: agent,
        method: 'POST',
        body,
        headers: {
          'webhook-event-kind': 'endpoint.verification',
          'webhook-id': 'evt_1',
          'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
          'webhook-signature': new Webhook(sentBy).sign('evt_1', at, body),
        },
      });
      return { status: answer.statusCode, text: await answer.body.text() };
    };
    assert.deepEqual(await ask(secret), { status: 200, text: 'the token' });
    await assert.rejects(ask(newSecret()));
    assert.equal(subscriber.received.length, 1);
  });

  it('fails the first attempts of each event', async () => {
    await misbehave({ failFirst: 2 });
    const posted = ['evt_1', 'evt_2', 'evt_1', 'evt_1', 'evt_2', 'evt_2'];
    const answers: number[] = [];
    for (const id of posted) answers.push((await post(id)).status);
    assert.deepEqual(answers, [500, 500, 500, 200, 500, 200]);
  });

  it('closes the connection on request, of some attempts or of all', async () => {
    await misbehave({ refuse: true, failFirst: 1 });
    await assert.rejects(post('evt_1'), { code: 'UND_ERR_SOCKET' });
    assert.equal((await post('evt_1')).status, 200);
    await misbehave({ refuse: true });
    for (const _ of [1, 2, 3]) await assert.rejects(post('evt_1'), { code: 'UND_ERR_SOCKET' });
  });

  it('answers slowly on request', async () => {
    await misbehave({ slowMs: 20 });
    const start = performance.now();
    assert.equal((await post('evt_1')).status, 200);
    assert.ok(performance.now() - start >= 19);
  });

  it('ends open requests and unfinished handshakes when it closes', async () => {
    await misbehave({ slowMs: 60_000 });
    const open = assert.rejects(post('evt_1'), { code: 'UND_ERR_SOCKET' });
    const handshake = connect(subscriber.port, '127.0.0.1');
    const handshakeClosed = once(handshake, 'close').catch(() => {}); // a reset is as good an end
    await Promise.all([
      once(handshake, 'connect'),
      until(
        () => subscriber.received.length,
        (count) => count === 1,
      ),
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
