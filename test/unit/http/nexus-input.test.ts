import assert from 'node:assert/strict';
import { readEventInput } from '../../../src/api/nexus/event-input.js';

describe('the input of a Nexus operation', () => {
  const read = (input: unknown) => readEventInput(input, 'request-1');

  it('has the request id as its key, unless it has one', () => {
    assert.equal(read({ kind: 'purchase', payload: {} }).idempotencyKey, 'nexus-request-1');
    assert.equal(read({ kind: 'purchase', payload: {}, idempotency_key: 'a' }).idempotencyKey, 'a');
  });

  it('has a payload, or its text byte for byte', () => {
    assert.equal(read({ kind: 'a', payload: { total: 12.5 } }).body.toString(), '{"total":12.5}');
    assert.equal(read({ kind: 'a', payload: null }).body.toString(), 'null');
    assert.equal(read({ kind: 'a', payload_json: '{"total": 12.50}' }).body.toString(), '{"total": 12.50}');
  });

  for (const [what, input, wrong] of [
    ['no object', 'purchase', /must be an object with kind and payload/],
    ['no payload', { kind: 'a' }, /payload or payload_json must be there/],
    ['two payloads', { kind: 'a', payload: 1, payload_json: '1' }, /send one of them/],
    ['a text that is none', { kind: 'a', payload_json: 1 }, /payload_json must be a string/],
    ['a field that is not known', { kind: 'a', payload: 1, more: 1 }, /more is unknown/],
    ['a large payload', { kind: 'a', payload: 'x'.repeat(262_144) }, /larger than 262144 bytes/],
    ['much beside it', { kind: 'a', payload: 1, subject: 'x'.repeat(65_536) }, /larger than 65536 bytes/],
    [
      'a deep nest',
      { kind: 'a', payload: JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) },
      /too deeply/,
    ],
  ] as const)
    it(`is refused with ${what}`, () => {
      assert.throws(() => read(input), wrong);
    });
});
