import assert from 'node:assert/strict';
import { Problem } from '../../../src/domain/http/problem.js';
import { parseSelection, SELECTION_BOUNDS, type Shape, select } from '../../../src/domain/http/selection.js';

const leaf: Shape = {};
const objectOf = (fields: Record<string, Shape>): Shape => ({ fields: new Map(Object.entries(fields)) });
const SHAPE = objectOf({
  id: leaf,
  status: leaf,
  metadata: { isMap: true },
  deliveries: objectOf({ id: leaf, status: leaf, attempts: objectOf({ number: leaf }) }),
});
const EVENT = {
  id: 'evt_1',
  metadata: { team: 'shop', other: 'x' },
  deliveries: [1, 2, 3].map((number) => ({
    id: `dlv_${number}`,
    status: 'delivered',
    attempts: [{ number }],
  })),
};

const chosen = (fields: string) => select(EVENT, parseSelection(fields, SHAPE));
const mistakeIn = (fields: string): string => {
  try {
    parseSelection(fields, SHAPE);
  } catch (error) {
    assert.ok(error instanceof Problem && error.code === 'invalid_fields');
    return error.message;
  }
  return 'none';
};

describe('a selection of fields', () => {
  it('takes the named fields in their order, nested ones, and the first of a list', () => {
    assert.deepEqual(Object.keys(chosen('deliveries,id') as object), ['deliveries', 'id']);
    assert.deepEqual(chosen('id,deliveries.limit(2){status,attempts{number}},metadata{team}'), {
      id: 'evt_1',
      deliveries: [1, 2].map((number) => ({ status: 'delivered', attempts: [{ number }] })),
      metadata: { team: 'shop' },
    });
  });

  it('leaves out what is absent', () => {
    assert.deepEqual(chosen('id,status,metadata{nobody}'), { id: 'evt_1', metadata: {} });
  });

  it('says what is wrong, and which fields there are', () => {
    for (const [fields, said] of [
      ['shoe_size', /"shoe_size" is not a field.*Known fields: id, status, metadata, deliveries\./],
      ['deliveries{shoe_size}', /"shoe_size" is not a field.*Known fields: id, status, attempts\./],
      ['__proto__', /"__proto__" is not a field/],
      ['', /a field is missing before its end/],
      ['id,', /a field is missing before its end/],
      ['id,id', /id is repeated/],
      ['id{name}', /id has no fields that could be named/],
      ['deliveries{id', /a } is missing before its end/],
      ['id}', /"}" was not expected/],
      ['deliveries.limit(-1)', /was not expected/],
      ['deliveries.skip(1)', /was not expected/],
    ] as const)
      assert.match(mistakeIn(fields), said, fields);
  });

  it('is bounded in length, depth and number, before anything is read', () => {
    const { characters, depth, fields } = SELECTION_BOUNDS;
    assert.match(mistakeIn('i'.repeat(characters + 1)), /longer than 2000 characters/);
    const endless: Shape = { isMap: true };
    const nested = (levels: number) => `${'a{'.repeat(levels - 1)}a${'}'.repeat(levels - 1)}`;
    const deep = objectOf({ a: objectOf({ a: objectOf({ a: objectOf({ a: objectOf({ a: leaf }) }) }) }) });
    assert.ok(parseSelection(nested(depth), deep));
    assert.throws(() => parseSelection(nested(depth + 1), deep), /nested deeper than 4 levels/);
    const many = (count: number) => Array.from({ length: count }, (_, index) => `f${index}`).join();
    assert.equal(parseSelection(many(fields), endless).size, fields);
    assert.throws(() => parseSelection(many(fields + 1), endless), /names more than 100 fields/);
  });
});
