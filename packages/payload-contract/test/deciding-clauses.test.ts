import assert from 'node:assert/strict';
import fc from 'fast-check';
import { decidingClauses, describeCondition } from '../src/filter/deciding-clauses.js';
import { type Filter, matchesFilter } from '../src/filter/match-filter.js';

const payload = { total: 12.5, currency: 'EUR', customer: { id: 'c-1' }, note: 'x'.repeat(200), items: [] };

describe('the result of a filter', () => {
  const filter: Filter = {
    all: [
      { path: '/currency', equals: 'EUR' },
      {
        any: [
          { path: '/total', at_least: 100 },
          { path: '/vip', exists: true },
        ],
      },
      { not: { path: '/customer/id', in: ['c-1', 'c-2'] } },
    ],
  };

  it('is the clauses that decided, with what the payload has there', () => {
    assert.deepEqual(decidingClauses(filter, payload), [
      { clause: '/all/1/any/0', path: '/total', condition: { path: '/total', at_least: 100 }, found: 12.5 },
      { clause: '/all/1/any/1', path: '/vip', condition: { path: '/vip', exists: true } },
      {
        clause: '/all/2',
        path: '/customer/id',
        condition: { not: { path: '/customer/id', in: ['c-1', 'c-2'] } },
        found: 'c-1',
      },
    ]);
    assert.deepEqual(decidingClauses(filter, { ...payload, total: 100, customer: {} }), []);
  });

  it('shows no long text, and nothing that is not a scalar', () => {
    for (const path of ['/note', '/items', '/customer'])
      assert.deepEqual(Object.keys(decidingClauses({ path, equals: 1 }, payload)[0] ?? {}), [
        'clause',
        'path',
        'condition',
      ]);
    const many = { any: Array.from({ length: 50 }, () => ({ path: '/total', equals: 1 })) };
    assert.equal(decidingClauses(many, payload).length, 10);
  });

  it('is written as people say it', () => {
    assert.equal(describeCondition({ path: '/total', at_least: 100 }), '/total at_least 100');
    assert.equal(describeCondition({ not: { path: '/a', in: ['x'] } }), 'not /a in ["x"]');
  });

  it('has clauses if, and only if, the payload does not meet the filter, and each of them is not met', () => {
    const test = fc.record({
      path: fc.constantFrom('/total', '/currency', '/none'),
      equals: fc.constantFrom(12.5, 'EUR', 1),
    });
    const { filter: any } = fc.letrec<{ filter: Filter }>((tie) => ({
      filter: fc.oneof(
        { maxDepth: 4 },
        test as fc.Arbitrary<Filter>,
        fc.record({ all: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }) }) as fc.Arbitrary<Filter>,
        fc.record({ any: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }) }) as fc.Arbitrary<Filter>,
        fc.record({ not: tie('filter') }) as fc.Arbitrary<Filter>,
      ),
    }));
    fc.assert(
      fc.property(any, (one) => {
        const clauses = decidingClauses(one, payload);
        assert.equal(clauses.length === 0, matchesFilter(one, payload));
        for (const { condition } of clauses) assert.equal(matchesFilter(condition, payload), false);
      }),
    );
  });
});
