import { deepEqual, equal } from 'node:assert/strict';
import fc from 'fast-check';
import {
  decidingClauses,
  type Filter,
  matchesFilter,
} from '../../../packages/payload-contract/src/filter/index.js';
import {
  compareNumbers,
  mayLoseDigits,
  readNumber,
  valuesOf,
} from '../../../packages/payload-contract/src/index.js';
import { keysInPayload } from '../../../src/domain/event/business-keys.js';
import { subjectInPayload } from '../../../src/domain/event/subject.js';

const BIG = '{"n":9007199254740993,"deep":{"er":{"list":[1,9007199254740993.5]}}}';
const LIMIT = 9007199254740992;

describe('a filter, a key and a subject see every digit of a number', () => {
  const cases: [Filter, boolean][] = [
    [{ path: '/n', equals: LIMIT }, false],
    [{ path: '/n', in: [LIMIT, 1] }, false],
    [{ path: '/n', greater_than: LIMIT }, true],
    [{ path: '/n', at_least: LIMIT }, true],
    [{ path: '/n', less_than: LIMIT }, false],
    [{ path: '/n', at_most: LIMIT }, false],
    [{ path: '/n', greater_than: '1' }, false],
    [{ path: '/n', exists: true }, true],
    [{ path: '/deep/er/list/1', greater_than: LIMIT }, true],
    [{ path: '/deep/er/list/1', equals: LIMIT + 2 }, false],
    [{ path: '/deep/er/list/0', equals: 1 }, true],
    // Nothing of what stands for such a number is within reach.
    ...['text', 'value', 'key', 'compareTo'].map((name): [Filter, boolean] => [
      { path: `/n/${name}`, exists: true },
      false,
    ]),
  ];
  for (const [filter, expected] of cases)
    it(`${JSON.stringify(filter)} ${expected ? 'is met' : 'is not met'}`, () => {
      equal(matchesFilter(filter, valuesOf(BIG)), expected);
    });

  it('whatever the number is: as the decimals that were written are compared', () => {
    const digits = fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n });
    const number = fc
      .tuple(digits, fc.constantFrom('', '.0', '.25', '.00000000000000000001', 'e3', 'E-7', 'e-400', 'e400'))
      .map((parts) => parts.join(''));
    const limits = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), digits.map(Number));
    fc.assert(
      fc.property(number, limits, (text, limit) => {
        const order = compareNumbers(readNumber(text), limit);
        for (const json of [`{"n":${text}}`, `{"n":1,"n": ${text}}`]) {
          const met = (filter: object) => matchesFilter({ path: '/n', ...filter } as Filter, valuesOf(json));
          equal(met({ equals: limit }), order === 0);
          equal(met({ in: [limit] }), order === 0);
          equal(met({ greater_than: limit }), order > 0);
          equal(met({ at_least: limit }), order >= 0);
          equal(met({ less_than: limit }), order < 0);
          equal(met({ at_most: limit }), order <= 0);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('and the number is told as it was written', () => {
    deepEqual(decidingClauses({ path: '/n', at_most: LIMIT }, valuesOf(BIG)), [
      { clause: '', path: '/n', condition: { path: '/n', at_most: LIMIT }, found: '9007199254740993' },
    ]);
  });

  it('so that no key and no subject is a rounded one', () => {
    const marks = { properties: { id: { 'x-hookline-key': true, 'x-hookline-subject': true } } };
    for (const [number, value] of [
      ['1001', '1001'],
      ['1.0', '1'],
      ['9007199254740991.0', '9007199254740991'],
      ['9007199254740993', undefined],
      ['4503599627370497.3', undefined],
      ['1.00000000000000000001', undefined],
    ] as const) {
      const values = valuesOf(`{"id":${number}}`);
      deepEqual(keysInPayload(marks, values), value === undefined ? [] : [{ name: 'id', value }], number);
      equal(subjectInPayload(marks, values), value, number);
    }
  });

  it('however deeply the payload is nested', () => {
    const depth = 100_000;
    const json = `{"n":9007199254740993,"deep":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    equal(matchesFilter({ path: '/n', equals: LIMIT }, valuesOf(json)), false);
  });

  it('of which ids and hashes are not taken for numbers', () => {
    for (const json of [
      '{"id":"12345678901234567890","hash":"1e123456789","uuid":"123e4567-e89b-12d3-a456-426614174000"}',
      '{"n":[1.5,1e21,-123456789012345]}',
    ])
      equal(mayLoseDigits(json), false, json);
    for (const json of ['1234567890123456', '[-1e400]', '{"n": 0.1234567890123456}', '[1,1E+100]'])
      equal(mayLoseDigits(json), true, json);
  });
});
