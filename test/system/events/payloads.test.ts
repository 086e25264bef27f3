import assert from 'node:assert/strict';
import { Webhook } from 'standardwebhooks';
import { MAX_PAYLOAD_BYTES } from '../../../packages/payload-contract/src/index.js';
import type { ApiClient } from '../../support/api-client.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

/** A purchase around a part of one's own: `before` stands in front of the required members, `after` behind them. */
function purchase(before: string, after = ''): string {
  return `{${before}"order_id":"o-1","customer_email":"ada@example.com","total":12.50,"items":[],"created_at":"2026-01-31T12:00:00Z"${after}}`;
}

/** A purchase of exactly so many bytes. */
function purchaseOf(bytes: number): string {
  const empty = purchase('"note":"",').length;
  return purchase(`"note":"${'n'.repeat(bytes - empty)}",`);
}

const PAYLOADS: Record<string, string> = {
  'an odd order of keys': purchase('"z":1,"a":2,"10":3,"9":4,'),
  'decimals as they were written': purchase('"a":12.50,"b":1.0,"c":-0.0,"d":1E+2,"e":0.1000,'),
  'numbers that JavaScript cannot hold': purchase(
    '"id":9007199254740993,"big":123456789012345678901234567890,',
  ),
  escapes: purchase('"a":"\\u00e9\\/\\n\\"\\\\","\\u0061bc":"\\ud83d\\ude00","nul":"\\u0000",'),
  'half of a surrogate pair, escaped': purchase('"a":"\\ud800",'),
  'text beyond ASCII': purchase('"a":"Žluťoučký kůň 🐎 漢字 \u2028\u2029\u007f",'),
  'white space wherever JSON allows it': ` \t\r\n${purchase(' \n "a" :\t[ 1 ,\r\n 2 ] , ')} \n\n`,
  'a repeated key': purchase('"a":1,"a":2,'),
  'names that mean something to JavaScript': purchase(
    '"__proto__":{"x":1},"constructor":null,"toString":"",',
  ),
  'deep nesting': purchase(`"deep":${'['.repeat(20_000)}${']'.repeat(20_000)},`),
  'as many bytes as there may be': purchaseOf(MAX_PAYLOAD_BYTES),
  'as many bytes as there may be, most of them escaped on their way': purchase(
    `"q":"${'\\"'.repeat((MAX_PAYLOAD_BYTES - 200) / 2)}",`,
  ),
};

describe('payloads', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;
  let secret: string;

  before(async () => {
    system = await sharedSystem();
    receiver = await startReceiver();
    client = await system.account();
    ({ secret } = await client.register(receiver.url));
  });
  after(() => receiver.close());

  for (const [name, payload] of Object.entries(PAYLOADS)) {
    it(`are delivered and shown byte for byte: ${name}`, async () => {
      const body = Buffer.from(payload);
      const event = await client.purchase(body);
      const all = await receiver.waitFor((received) =>
        received.some(({ headers }) => headers['webhook-id'] === event.id),
      );
      const request = all.find(({ headers }) => headers['webhook-id'] === event.id);
      assert.ok(request);
      assert.ok(request.body.equals(body), 'what arrived is what was sent');
      assert.equal(request.headers['content-type'], 'application/json');
      assert.equal(request.headers['content-length'], String(body.length));
      new Webhook(secret).verify(request.body, request.headers);

      const shown = await client.request('GET', `/v18.0/events/${event.id}`);
      assert.equal(shown.status, 200);
      assert.ok(shown.text.endsWith(`,"payload":${payload}}`), 'the event shows it as it was sent');
      assert.equal(shown.json.id, event.id);
    });
  }

  it('hold at most 262,144 bytes', async () => {
    const tooLarge = purchaseOf(MAX_PAYLOAD_BYTES + 1);
    assert.equal(Buffer.byteLength(tooLarge), 262_145);
    const answer = await client.request('POST', '/v18.0/events/purchase', { raw: tooLarge });
    assert.equal(answer.status, 413);
    assert.equal(answer.json.code, 'payload_too_large');
    assert.match(answer.json.detail, /262144 bytes/);
  });

  it('are measured in bytes, not in characters', async () => {
    const tooLarge = purchase(`"note":"${'é'.repeat(131_072)}",`);
    assert.ok(tooLarge.length < MAX_PAYLOAD_BYTES);
    const answer = await client.request('POST', '/v18.0/events/purchase', { raw: tooLarge });
    assert.equal(answer.status, 413);
  });

  it('far beyond the limit are refused with an answer, however they are sent', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    for (const raw of [Buffer.concat(Array(8).fill(chunk)), 'x'.repeat(3_000_000)]) {
      const answer = await client.request('POST', '/v18.0/events/purchase', { raw });
      assert.equal(answer.status, 413);
      assert.equal(answer.json.code, 'payload_too_large');
    }
  });
});
