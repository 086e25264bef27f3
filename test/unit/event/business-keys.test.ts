import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  checkBounds,
  checkKeyProperties,
  MAX_KEYS_PER_SCHEMA,
} from '../../../packages/payload-contract/src/index.js';
import {
  keysInPayload,
  keyToken,
  MAX_KEY_VALUE_LENGTH,
  MAX_KEYS_PER_REQUEST,
  parseKeyFilter,
  parseKeyHeader,
} from '../../../src/domain/event/business-keys.js';
import { EVENT_KINDS, findEventKind } from '../../../src/domain/event/event-kinds.js';

const mark = { 'x-hookline-key': true };
const marked = (count: number) => ({
  properties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`key_${index}`, mark])),
});

describe('business keys', () => {
  const schema = {
    properties: {
      order_id: mark,
      customer: { properties: { id: mark, name: {} } },
      note: { 'x-hookline-key': false },
    },
  };

  it('are the scalars at the properties that the schema marks', () => {
    assert.deepEqual(keysInPayload(schema, { order_id: 1001, customer: { id: 'c-17', name: 'Ada' } }), [
      { name: 'order_id', value: '1001' },
      { name: 'customer.id', value: 'c-17' },
    ]);
    assert.deepEqual(keysInPayload(findEventKind('purchase')?.schema ?? {}, { order_id: 'order-1' }), [
      { name: 'order_id', value: 'order-1' },
    ]);
  });

  it('are left out where the payload has nothing that could be named', () => {
    for (const order_id of ['', null, true, 1.5, 2 ** 53, ['1'], {}, 'x'.repeat(MAX_KEY_VALUE_LENGTH + 1)])
      assert.deepEqual(keysInPayload(schema, { order_id, customer: 'none' }), []);
    assert.deepEqual(keysInPayload({ properties: { constructor: mark, toString: mark } }, {}), []);
    assert.deepEqual(keysInPayload(schema, null), []);
  });

  it('are marked on properties that have a plain name, and on few of them', () => {
    assert.deepEqual(checkKeyProperties(schema), [
      {
        pointer: '/schema',
        detail:
          'has x-hookline-key where it has no effect: mark properties with true, below "properties" alone and outside of lists, definitions and alternatives',
      },
    ]);
    const errors = (value: Record<string, unknown>) =>
      checkBounds(value).errors.map(({ pointer, detail }) => `${pointer} ${detail}`);
    assert.deepEqual(errors(marked(MAX_KEYS_PER_SCHEMA)), []);
    assert.match(errors(marked(MAX_KEYS_PER_SCHEMA + 1)).join(), /^\/schema must mark at most 5/);
    assert.match(
      errors({ properties: { 'a.b': mark } }).join(),
      /^\/schema\/properties\/a\.b cannot be a key/,
    );
    assert.match(errors({ properties: { ['n'.repeat(65)]: mark } }).join(), /cannot be a key/);
    assert.match(errors({ properties: { list: { items: mark } } }).join(), /where it has no effect/);
    assert.match(errors({ $defs: { id: mark }, $ref: '#/$defs/id' }).join(), /where it has no effect/);
    for (const kind of EVENT_KINDS) assert.deepEqual(checkKeyProperties(kind.schema), []);
  });

  it('are named as name:value in queries', () => {
    assert.deepEqual(parseKeyFilter('order_id:10:01'), { name: 'order_id', value: '10:01' });
    for (const text of ['', 'order_id', 'order_id:', ':1', '1x:1', 'a b:1', `a:${'x'.repeat(257)}`])
      assert.equal(parseKeyFilter(text), undefined, text);
  });

  it('are named as name=value in the header, percent-encoded, with commas between', () => {
    assert.deepEqual(parseKeyHeader('customer=c-17, shop.city=S%C3%A3o%20Paulo%2C%20SP,a=b=c'), [
      { name: 'customer', value: 'c-17' },
      { name: 'shop.city', value: 'São Paulo, SP' },
      { name: 'a', value: 'b=c' },
    ]);
    for (const text of ['', 'customer', 'customer=', '=1', 'a=1,', 'a=100%', 'a=b c', 'a=é', 'a:1'])
      assert.equal(typeof parseKeyHeader(text), 'string', text);
    const many = (count: number) => Array.from({ length: count }, (_, index) => `k${index}=1`).join();
    assert.equal(parseKeyHeader(many(MAX_KEYS_PER_REQUEST)).length, MAX_KEYS_PER_REQUEST);
    assert.equal(parseKeyHeader(many(MAX_KEYS_PER_REQUEST + 1)), 'must name at most 5 keys');
  });

  it('have tokens that differ by account, name and value, and say nothing of them', () => {
    const [secret, other] = [randomBytes(32), randomBytes(32)];
    const token = keyToken(secret, { name: 'order_id', value: '1001' });
    assert.match(token, /^k:[\w-]{16}$/);
    assert.equal(keyToken(secret, { name: 'order_id', value: '1001' }), token);
    assert.notEqual(keyToken(other, { name: 'order_id', value: '1001' }), token);
    assert.notEqual(keyToken(secret, { name: 'order', value: '1001' }), token);
    assert.notEqual(keyToken(secret, { name: 'order_id', value: '1002' }), token);
  });
});
