import assert from 'node:assert/strict';
import { mainThreadTime, referenceTime } from '../../../test/support/parts/thread-time.js';
import { FILTER_BOUNDS } from '../src/filter/filter-bounds.js';
import { type Filter, matchesFilter } from '../src/filter/match-filter.js';
import { PayloadValues } from '../src/filter/payload-values.js';
import { findMistake } from '../src/filter/read-filter.js';
import { valuesOf } from '../src/values/values-of.js';

/**
 * So many times the {@link referenceTime} of the same moment: the aim is 20 ms of a fast processor, four times as much.
 */
const MAX_COST = 10;
/** The same where the text is read again for the sake of its digits, number by number. */
const MAX_EXACT_COST = 30;
const ENDPOINTS = 1_000;

/** The payload in which a path of `a` after `a` goes as deep as a path may, and then to another object. */
function nested(innermost: unknown, levels = FILTER_BOUNDS.levels - 1): unknown {
  return levels === 0 ? innermost : { a: nested(innermost, levels - 1) };
}

describe('comparing an event with all filters that an account may have', () => {
  const deep = '/a'.repeat(FILTER_BOUNDS.levels - 1);
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, index]));
  const long = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, 2 ** 53]));
  const cases: Record<string, { condition: (index: number) => Filter; payload: unknown; text?: string }> = {
    'paths that end nowhere, each another': {
      condition: (index) => ({ path: `${deep}/${index.toString(36)}`, equals: 1 }),
      payload: nested({}),
    },
    'deep paths to values, each another': {
      condition: (index) => ({ path: `${deep}/k${index % 20_000}`, equals: -1 }),
      payload: nested(wide),
    },
    'short paths': { condition: (index) => ({ path: `/k${index}`, exists: false }), payload: wide },
    'one long text': {
      condition: () => ({ path: '/a', greater_than: 'b'.repeat(200) }),
      payload: { a: 'b'.repeat(250_000) },
    },
    'numbers of which every digit counts': {
      condition: (index) => ({ path: `/k${index % 10_000}`, less_than: 2 ** 53 }),
      payload: long,
      text: JSON.stringify(long).replaceAll('992', '993'),
    },
  };
  for (const [what, { condition, payload, text }] of Object.entries(cases)) {
    it(`takes milliseconds: ${what}`, () => {
      const filters = filtersOf(condition);
      for (const filter of filters) assert.equal(findMistake(filter), undefined);
      const compare = () => {
        const values = text === undefined ? new PayloadValues(payload) : valuesOf(text, payload);
        for (const filter of filters) matchesFilter(filter, values);
      };
      compare(); // compiles them
      referenceTime();
      const runs = Array.from({ length: 5 }, () => {
        const began = mainThreadTime();
        compare();
        return (mainThreadTime() - began) / referenceTime();
      });
      const [, , median = 0] = runs.sort((a, b) => a - b);
      assert.ok(median <= (text === undefined ? MAX_COST : MAX_EXACT_COST), `${median} times the reference`);
    });
  }
});

/** Filters of as many endpoints, together as long as they may be. */
function filtersOf(condition: (index: number) => Filter): Filter[] {
  let index = 0;
  return Array.from({ length: ENDPOINTS }, () => {
    const any: Filter[] = [];
    for (let size = 2; size < FILTER_BOUNDS.sizeOfAll / ENDPOINTS - 200 && any.length < 49; index += 1) {
      const one = condition(index);
      any.push(one);
      size += JSON.stringify(one).length + 1;
    }
    return { any };
  });
}
