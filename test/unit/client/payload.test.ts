import { deepEqual, equal, throws } from 'node:assert/strict';
import { exampleOf } from '../../../src/bin/client/trigger/example.js';
import { setValue } from '../../../src/bin/client/trigger/set.js';

const SCHEMA = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    total: { type: 'number', exclusiveMinimum: 0 },
    paid: { type: 'boolean' },
    at: { type: 'string', format: 'date-time' },
    state: { enum: ['new', 'old'] },
    lines: { type: 'array', minItems: 1, items: { $ref: '#/$defs/line' } },
    note: { type: ['null', 'string'] },
  },
  required: ['id', 'total', 'paid', 'state', 'lines'],
  $defs: { line: { allOf: [{ properties: { sku: { type: 'string', minLength: 6 } }, required: ['sku'] }] } },
};

describe('the payload of hookline trigger', () => {
  it('is the example of the schema, or the simplest value with what it requires', () => {
    deepEqual(exampleOf({ ...SCHEMA, examples: [{ id: 'o-1' }] }), { id: 'o-1' });
    deepEqual(exampleOf(SCHEMA), {
      id: 'text',
      total: 1,
      paid: true,
      state: 'new',
      lines: [{ sku: 'textxx' }],
    });
    equal(exampleOf({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }), null);
  });

  it('is changed by values of the type that the schema says', () => {
    const set = (...changes: string[]) =>
      changes.reduce<unknown>((payload, change) => setValue(payload, change, SCHEMA), { id: 'o-1' });
    deepEqual(set('id=7', 'total=5', 'paid=false'), { id: '7', total: 5, paid: false });
    deepEqual(set('lines.0.sku=123456', 'lines.1.sku=x=y'), {
      id: 'o-1',
      lines: [{ sku: '123456' }, { sku: 'x=y' }],
    });
    deepEqual(set('note=null', 'other=5', 'more=five', 'deep.a=[1]'), {
      id: 'o-1',
      note: 'null',
      other: 5,
      more: 'five',
      deep: { a: [1] },
    });
  });

  it('is not changed by what makes no sense', () => {
    throws(() => setValue({}, 'total=many', SCHEMA), /not of the type number/);
    throws(() => setValue({}, 'lines.2.sku=a', SCHEMA), /a number from 0 to 0/);
    throws(() => setValue({}, '=5', SCHEMA), /Write --set/);
    throws(() => setValue({}, '__proto__.polluted=1', SCHEMA), /does not name a part/);
  });
});
