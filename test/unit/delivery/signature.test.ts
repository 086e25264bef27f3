import assert from 'node:assert/strict';
import { Webhook } from 'standardwebhooks';
import {
  isSharedSecret,
  liveKeys,
  newSigningSecret,
  objectionToSignature,
  SIGNATURE_SCHEMES,
  schemeOf,
  sign,
  toSharedSecret,
} from '../../../src/domain/delivery/signature.js';

describe('signatures', () => {
  const headers = (id: string, timestamp: number, signature: string) => ({
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
  });
  const now = () => Math.floor(Date.now() / 1_000);

  it('match the test vector that the Standard Webhooks libraries publish', () => {
    const signature = sign(
      ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
      'msg_p5jXN8AQM9LWM0D4loKWxJek',
      1614265330,
      '{"test": 2432232314}',
    );
    assert.equal(signature, 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  for (const [name, body] of Object.entries({
    'plain text': '{"a":1}',
    'text beyond ASCII': '{"a":"Žluťoučký 🐎"}',
    'white space': ' {\n}\r\n',
    nothing: '',
  })) {
    it(`over ${name} are verified by the standardwebhooks package, and made as it makes them`, () => {
      const secret = newSigningSecret();
      const timestamp = now();
      const signature = sign([secret], 'evt_1', timestamp, body);
      const webhook = new Webhook(secret);
      assert.equal(signature, webhook.sign('evt_1', new Date(timestamp * 1_000), body));
      if (body.trim().startsWith('{')) webhook.verify(body, headers('evt_1', timestamp, signature));
    });
  }

  it('cover id, timestamp and body, and depend on the secret', () => {
    const [secret, timestamp] = [newSigningSecret(), now()];
    const signature = sign([secret], 'evt_1', timestamp, '{}');
    const webhook = new Webhook(secret);
    webhook.verify('{}', headers('evt_1', timestamp, signature));
    assert.throws(() => webhook.verify('{ }', headers('evt_1', timestamp, signature)));
    assert.throws(() => webhook.verify('{}', headers('evt_2', timestamp, signature)));
    assert.throws(() => webhook.verify('{}', headers('evt_1', timestamp - 1, signature)));
    assert.throws(() => new Webhook(newSigningSecret()).verify('{}', headers('evt_1', timestamp, signature)));
  });

  it('are made with shared secrets of 24 to 64 bytes, in base64 after whsec_', () => {
    const of = (bytes: number) => toSharedSecret(Buffer.alloc(bytes, 0xfb));
    for (const bytes of [24, 25, 32, 64]) assert.ok(isSharedSecret(of(bytes)), String(bytes));
    const others = [
      of(23),
      of(65),
      of(32).slice(6),
      of(32).replaceAll('+', '-'),
      `${of(32)} `,
      'whsec_',
      'whsk_',
    ];
    for (const other of others) assert.ok(!isSharedSecret(other), other);
    assert.ok(isSharedSecret(newSigningSecret()) && !isSharedSecret(newSigningSecret('v1a')));
  });

  it('are there for every live secret, newest first', () => {
    const secrets = [newSigningSecret(), newSigningSecret()];
    const timestamp = now();
    const signature = sign(secrets, 'evt_1', timestamp, '{}');
    assert.deepEqual(
      signature.split(' '),
      secrets.map((secret) => sign([secret], 'evt_1', timestamp, '{}')),
    );
    for (const secret of secrets) new Webhook(secret).verify('{}', headers('evt_1', timestamp, signature));
  });

  it('are made with each secret until its end, and with the newest for good', () => {
    const at = (ms: number) => new Date(1_000 + ms).toISOString();
    const keys = [
      { secret: 'newest', created_at: at(0) },
      { secret: 'overlaps', created_at: at(0), expires_at: at(1) },
      { secret: 'ended', created_at: at(0), expires_at: at(0) },
    ];
    assert.deepEqual(
      liveKeys(keys, 1_000).map(({ secret }) => secret),
      ['newest', 'overlaps'],
    );
  });

  it('of every scheme are verified for five minutes, and refused in the words of the standardwebhooks package', () => {
    const at = now();
    for (const scheme of SIGNATURE_SCHEMES) {
      const [secret, other] = [newSigningSecret(scheme), newSigningSecret(scheme)];
      const signedAt = (timestamp: number) =>
        headers('evt_1', timestamp, sign([secret], 'evt_1', timestamp, '{}'));
      const [, signature = ''] = sign([secret], 'evt_1', at, '{}').split(',');
      const cases: [string | undefined, Record<string, string>, string?][] = [
        [undefined, signedAt(at)],
        [undefined, headers('evt_1', at, `${sign([other], 'evt_1', at, '{}')} ${scheme},${signature}`)],
        [undefined, signedAt(at - 200)],
        [undefined, signedAt(at + 200)],
        ['Message timestamp too old', signedAt(at - 310)],
        ['Message timestamp too new', signedAt(at + 500)],
        ['No matching signature found', signedAt(at), '{ }'],
        ['No matching signature found', { ...signedAt(at), 'webhook-id': 'evt_2' }],
        ['No matching signature found', { ...signedAt(at), 'webhook-timestamp': String(at - 1) }],
        ['No matching signature found', headers('evt_1', at, sign([other], 'evt_1', at, '{}'))],
        ['No matching signature found', headers('evt_1', at, signature)],
        ['No matching signature found', headers('evt_1', at, `other,${signature}`)],
        ['No matching signature found', headers('evt_1', at, `${scheme},`)],
        ['Invalid Signature Headers', { ...signedAt(at), 'webhook-timestamp': 'x' }],
        ['Missing required headers', { ...signedAt(at), 'webhook-signature': '' }],
        ['Missing required headers', {}],
      ];
      for (const [expected, given, body = '{}'] of cases) {
        const name = `${scheme} ${JSON.stringify(given)}`;
        assert.equal(objectionToSignature([secret], given, body, at * 1_000), expected, name);
        // The package knows shared secrets alone.
        if (scheme === 'v1')
          assert.equal(
            wordsOf(() => new Webhook(secret).verify(body, given)),
            expected,
            name,
          );
      }
      const distances = [-301, -300, 300, 301].map((plus) =>
        objectionToSignature([secret], signedAt(at + plus), '{}', at * 1_000 + 999),
      );
      assert.deepEqual(distances, [
        'Message timestamp too old',
        undefined,
        undefined,
        'Message timestamp too new',
      ]);
      assert.equal(objectionToSignature([other, secret], signedAt(at), '{}', at * 1_000), undefined);
    }
  });

  it('are of the scheme that their secret was made for', () => {
    for (const scheme of SIGNATURE_SCHEMES) {
      const secret = newSigningSecret(scheme);
      assert.equal(schemeOf(secret), scheme);
      assert.ok(sign([secret], 'evt_1', now(), '{}').startsWith(`${scheme},`));
    }
  });

  it('are made with secrets of 32 random bytes', () => {
    const secret = newSigningSecret();
    assert.match(secret, /^whsec_/);
    assert.equal(Buffer.from(secret.slice(6), 'base64').length, 32);
    assert.notEqual(newSigningSecret(), secret);
  });
});

/** Words with which something is refused; `undefined` if it is not. */
function wordsOf(act: () => unknown): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
