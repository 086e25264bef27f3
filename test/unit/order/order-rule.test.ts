import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { checkOrderProperties } from '../../../packages/payload-contract/src/index.js';
import { orderKeyInPayload, orderToken, parseOrderHeader } from '../../../src/domain/event/order-key.js';
import { orderKeyFor } from '../../../src/domain/event/ordering.js';
import { isPassed, orderHeader } from '../../../src/domain/order/order-rule.js';

describe('an order', () => {
  it('goes on after what is delivered or cancelled, and after what has ended only where that is skipped', () => {
    const never = { ordering: 'key' } as const;
    const exhausted = { ...never, order_skip: 'exhausted' } as const;
    for (const status of ['delivered', 'cancelled'] as const) assert.ok(isPassed(status, 0, never));
    for (const status of ['exhausted', 'expired', 'terminated'] as const) {
      assert.ok(!isPassed(status, 1e9, never), status);
      assert.ok(isPassed(status, 0, exhausted), status);
    }
    for (const status of [undefined, 'delivering', 'retrying', 'parked'] as const) {
      assert.ok(!isPassed(status, 1e9, exhausted), status);
      assert.ok(!isPassed(status, 59_999, { ...never, order_skip_after: '1m' }), status);
      assert.ok(isPassed(status, 60_000, { ...never, order_skip_after: '1m' }), status);
    }
  });

  it('is by the key of the event, or the same for all of an endpoint', () => {
    assert.equal(orderKeyFor({}, 'o:1'), undefined);
    assert.equal(orderKeyFor({ ordering: 'key' }, 'o:1'), 'o:1');
    assert.equal(orderKeyFor({ ordering: 'key' }, undefined), undefined);
    assert.equal(orderKeyFor({ ordering: 'endpoint' }, undefined), '*');
  });

  it('tells the receiver the number, that of the one before, and which order it is', () => {
    assert.equal(orderHeader({ stream: 'ep_1 o:a', number: 1 }), '1;key="o:a"');
    assert.equal(orderHeader({ stream: 'ep_1 o:a', number: 7 }), '7;previous=6;key="o:a"');
    assert.equal(orderHeader({ stream: 'ep_1 *', number: 2 }), '2;previous=1');
  });

  it('has a key of bounded length from a header, or of a marked property, and a token that tells neither', () => {
    assert.equal(parseOrderHeader('a%20b'), 'a b');
    assert.equal(parseOrderHeader('x'.repeat(256))?.length, 256);
    for (const text of ['', '%', 'x'.repeat(257), 'ä']) assert.equal(parseOrderHeader(text), undefined, text);
    const schema = { properties: { order: { properties: { id: { 'x-hookline-order': true } } } } };
    assert.equal(orderKeyInPayload(schema, { order: { id: 'o-1' } }), 'o-1');
    assert.equal(orderKeyInPayload(schema, { order: { id: 17 } }), '17');
    for (const id of [undefined, '', 1.5, null, {}])
      assert.equal(orderKeyInPayload(schema, { order: { id } }), undefined);
    const token = orderToken(createSecretKey(Buffer.alloc(32)), 'o-1');
    assert.match(token, /^o:[\w-]{16}$/);
    assert.notEqual(token, orderToken(createSecretKey(Buffer.alloc(32, 1)), 'o-1'));
  });

  it('has one key, where a mark has an effect', () => {
    const marked = { 'x-hookline-order': true };
    assert.deepEqual(checkOrderProperties({ properties: { a: marked } }), []);
    const two = checkOrderProperties({ properties: { a: marked, b: marked } });
    assert.match(two[0]?.detail ?? '', /at most one property/);
    const inList = checkOrderProperties({ properties: { a: { items: { properties: { b: marked } } } } });
    assert.match(inList[0]?.detail ?? '', /no effect/);
  });
});
