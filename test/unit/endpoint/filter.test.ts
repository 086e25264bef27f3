import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  FILTER_BOUNDS,
  type Filter,
  findMistake,
  matchesFilter,
} from '../../../packages/payload-contract/src/filter/index.js';
import { filterSchema } from '../../../src/domain/endpoint/filter-schema.js';

const payload = {
  total: 12.5,
  currency: 'EUR',
  gift: false,
  note: null,
  created_at: '2026-01-31T12:00:00Z',
  items: [{ name: 'Notebook', qty: 2 }],
  'a/b': { '~': 1 },
};

const CASES: [Filter, boolean][] = [
  [{ path: '/total', equals: 12.5 }, true],
  [{ path: '/total', equals: '12.5' }, false],
  [{ path: '/gift', equals: false }, true],
  [{ path: '/note', equals: null }, true],
  [{ path: '/none', equals: null }, false],
  [{ path: '/items', equals: 'Notebook' }, false],
  [{ path: '/items/0/name', equals: 'Notebook' }, true],
  [{ path: '/items/1/name', equals: 'Notebook' }, false],
  [{ path: '/items/00/name', equals: 'Notebook' }, false],
  [{ path: '/items/length', exists: true }, false],
  [{ path: '/a~1b/~0', equals: 1 }, true],
  [{ path: '/total', greater_than: 12.5 }, false],
  [{ path: '/total', at_least: 12.5 }, true],
  [{ path: '/total', less_than: 12.6 }, true],
  [{ path: '/total', at_most: 12.4 }, false],
  [{ path: '/currency', greater_than: 5 }, false],
  [{ path: '/created_at', less_than: '2026-02-01T00:00:00Z' }, true],
  [{ path: '/currency', in: ['USD', 'EUR'] }, true],
  [{ path: '/currency', in: ['USD', 1, null] }, false],
  [{ path: '/note', exists: true }, true],
  [{ path: '/none', exists: false }, true],
  [{ path: '', exists: true }, true],
  [{ path: '/constructor', exists: true }, false],
  [{ path: '/__proto__', exists: true }, false],
  [{ path: '/currency/length', exists: true }, false],
  [{ not: { path: '/none', at_least: 1 } }, true],
  [
    {
      all: [
        { path: '/total', at_least: 10 },
        { path: '/currency', equals: 'EUR' },
      ],
    },
    true,
  ],
  [
    {
      all: [
        { path: '/total', at_least: 10 },
        { path: '/currency', equals: 'USD' },
      ],
    },
    false,
  ],
  [
    {
      any: [
        { path: '/total', at_least: 100 },
        { path: '/currency', equals: 'EUR' },
      ],
    },
    true,
  ],
  [{ any: [{ path: '/total', at_least: 100 }, { not: { path: '/gift', equals: false } }] }, false],
];

describe('a filter', () => {
  for (const [filter, expected] of CASES) {
    it(`${JSON.stringify(filter)} ${expected ? 'is met' : 'is not met'}`, () => {
      assert.deepEqual(filterSchema.parse(filter), filter);
      assert.equal(matchesFilter(filter, payload), expected);
    });
  }

  it('is refused if it is not a condition', () => {
    for (const wrong of [
      null,
      'total > 5',
      [],
      {},
      { path: 'total', equals: 1 },
      { path: '/a~2', equals: 1 },
      { path: '/total' },
      { path: '/total', equals: 1, in: [1] },
      { path: '/total', equals: { a: 1 } },
      { path: '/total', greater_than: true },
      { path: '/total', in: [] },
      { path: '/total', in: Array(101).fill(1) },
      { path: '/total', matches: '.*' },
      { all: [] },
      { not: [{ path: '/total', equals: 1 }] },
      { path: `/${'a'.repeat(256)}`, exists: true },
      { path: '/a'.repeat(FILTER_BOUNDS.levels + 1), exists: true },
      { path: '/total', at_least: Number.POSITIVE_INFINITY },
      { path: '/total', at_least: null },
      { equals: 1 },
      { all: [{ path: '/total', exists: true }], any: [{ path: '/total', exists: true }] },
      { path: '/total', exists: true, more: 1 },
    ]) {
      assert.equal(filterSchema.safeParse(wrong).success, false, JSON.stringify(wrong)?.slice(0, 80));
    }
  });

  it('is bounded in depth and size', () => {
    const leaf: Filter = { path: '/total', exists: true };
    const nested = (depth: number): Filter => (depth <= 1 ? leaf : { not: nested(depth - 1) });
    assert.ok(filterSchema.safeParse(nested(FILTER_BOUNDS.depth)).success);
    assert.ok(!filterSchema.safeParse(nested(FILTER_BOUNDS.depth + 1)).success);
    assert.ok(!filterSchema.safeParse(nested(5_000)).success);
    const wide = (conditions: number): Filter => ({ all: Array<Filter>(conditions - 1).fill(leaf) });
    assert.ok(filterSchema.safeParse(wide(FILTER_BOUNDS.conditions)).success);
    assert.ok(!filterSchema.safeParse(wide(FILTER_BOUNDS.conditions + 1)).success);
  });

  const mistakes: [unknown, string][] = [
    [
      {
        all: [
          { path: '/a', equals: 1 },
          { path: 'a', equals: 1 },
        ],
      },
      '/all/1/path must be a JSON Pointer, such as /total or /items/0/name',
    ],
    [
      { any: [{ not: { path: '/a', in: [{}] } }] },
      '/any/0/not/in must hold texts of at most 256 characters, numbers, true, false or null',
    ],
    [{ not: { path: '/a', exists: 1 } }, '/not/exists must be true or false'],
    [{ path: '/a'.repeat(17), equals: 1 }, '/path must have at most 16 levels'],
    [{ all: [{}, {}] }, '/all/0 must be a condition, such as {"path": "/total", "at_least": 100}'],
    [{ all: Array(21_000).fill({}) }, ' must have at most 50 conditions'],
    [{ any: { path: '/a', equals: 1 } }, '/any must be a list of at least 1 condition'],
    [
      { not: { path: '/a', gte: 1 } },
      '/not must have an operator: "gte" is none. There are: exists, equals, in, greater_than, at_least, less_than, at_most. Did you mean "at_least"?',
    ],
    [
      { ['x'.repeat(50)]: 1, path: '/a' },
      ` must have an operator: "${'x'.repeat(39)}…" is none. There are: exists, equals, in, greater_than, at_least, less_than, at_most.`,
    ],
  ];
  for (const [wrong, expected] of mistakes) {
    it(`${JSON.stringify(wrong).slice(0, 60)}: ${expected.slice(0, 40)}`, () => {
      const { place = [], detail } = findMistake(wrong) ?? {};
      assert.equal(`${place.map((part) => `/${part}`).join('')} ${detail}`, expected);
    });
  }

  it('is bounded as a text', () => {
    const values = (length: number) => ({ path: '/a', in: Array(100).fill('v'.repeat(length)) });
    assert.equal(findMistake({ any: [values(100)] }), undefined);
    assert.deepEqual(findMistake({ any: [values(100), values(100)] }), {
      place: [],
      detail: `must be at most ${FILTER_BOUNDS.size} characters of JSON`,
    });
  });

  it('never has more than one mistake looked for, whatever it is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const mistake = findMistake(value);
        if (!mistake) matchesFilter(value as unknown as Filter, value);
      }),
    );
  });

  it('decides on any payload', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(...CASES.map(([filter]) => filter)), (value, filter) => {
        assert.equal(matchesFilter({ not: filter }, value), !matchesFilter(filter, value));
      }),
    );
  });
});
