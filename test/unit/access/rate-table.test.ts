import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RateBlocks, REFUSALS_PER_MINUTE } from '../../../src/domain/access/limits/rate-blocks.js';
import {
  type Column,
  type RateNews,
  RateTable,
  type SharedTable,
} from '../../../src/domain/access/limits/rate-table.js';

const MINUTE = 60_000;
const LIMIT = { requests: 3, windowMs: MINUTE };
/** The start of a minute. */
const NOON = Date.UTC(2026, 10, 21, 12);

/** Database that adds up what the processes report. */
class Store {
  private readonly windows = new Map<string, Record<string, Column>>();

  /** Has a table tell and learn, as sharing does. */
  exchange(table: SharedTable, now: number): void {
    const news = table.news(now);
    if (news) table.learn(news.id, this.tell(news), now);
  }

  tell({ id, add, raise }: RateNews): Record<string, Column> {
    const columns = this.windows.get(id) ?? {};
    this.windows.set(id, columns);
    const change = (changes: Record<string, Column>, next: (before: number, by: number) => number) => {
      for (const [name, column] of Object.entries(changes)) {
        columns[name] ??= {};
        for (const [caller, by] of Object.entries(column))
          columns[name][caller] = next(columns[name][caller] ?? 0, by);
      }
    };
    change(add, (before, by) => before + by);
    change(raise, Math.max);
    return structuredClone(columns);
  }

  /** A process that starts now. */
  teach(table: SharedTable, now: number): void {
    for (const [id, columns] of this.windows) table.learn(id, columns, now);
  }
}

function shared<T extends SharedTable>(table: T): T {
  table.onNews = () => {};
  return table;
}

describe('a rate table', () => {
  it('counts exactly up to the limit, and again in each window of the clock', () => {
    const table = new RateTable('t', LIMIT);
    const late = NOON + 59_000;
    const counts = Array.from({ length: 4 }, () => table.consume('ada', late));
    assert.deepEqual(counts, [
      { within: true, count: 1, resetMs: 1_000 },
      { within: true, count: 2, resetMs: 1_000 },
      { within: true, count: 3, resetMs: 1_000 },
      { within: false, count: 3, resetMs: 1_000 },
    ]);
    assert.deepEqual([table.waitOf('ada', late + 999), table.waitOf('bob', late)], [1, 0]);
    assert.deepEqual(table.consume('ada', late + 1_000), { within: true, count: 1, resetMs: MINUTE });
  });

  it('forgets the caller that has been quiet for longest if there are too many, but none that has used up the limit', () => {
    const table = new RateTable('t', LIMIT, 2);
    for (let times = 0; times < 3; times++) table.consume('blocked', NOON);
    for (const caller of ['ada', 'bob', 'ada', 'cyd']) table.consume(caller, NOON);
    assert.equal(table.consume('ada', NOON).count, 3);
    assert.equal(table.consume('bob', NOON).count, 1, 'forgotten');
    assert.equal(table.consume('blocked', NOON).within, false);
  });

  it('adds the counts of other processes to its own', () => {
    const store = new Store();
    const [here, there] = [shared(new RateTable('t', LIMIT)), shared(new RateTable('t', LIMIT))];
    there.consume('ada', NOON);
    here.consume('ada', NOON);
    store.exchange(there, NOON);
    store.exchange(there, NOON);
    store.exchange(here, NOON);
    assert.equal(here.consume('ada', NOON).count, 3);
    assert.equal(here.consume('ada', NOON).within, false);
    assert.ok(here.consume('ada', NOON + MINUTE).within, 'the window that they told of has ended');
  });

  it('takes a caller’s own limit for the table’s, whatever other processes took it for', () => {
    const store = new Store();
    const [here, there] = [shared(new RateTable('t', LIMIT)), shared(new RateTable('t', LIMIT))];
    const own = 5;
    for (let times = 0; times < 4; times++) assert.ok(there.consume('ada', NOON, own).within);
    store.exchange(there, NOON);
    here.consume('ada', NOON, own);
    store.exchange(here, NOON);
    assert.equal(here.consume('ada', NOON, own).within, false);
    assert.equal(here.waitOf('ada', NOON, own), MINUTE);
    assert.equal(here.waitOf('ada', NOON, own + 1), 0);
    assert.ok(here.consume('ada', NOON, own + 1).within, 'a limit that is raised holds at once');
    assert.equal(here.consume('ada', NOON, own - 1).within, false);
  });

  it('keeps counts that could not be shared, and those made while it shares', () => {
    const store = new Store();
    const table = shared(new RateTable('t', LIMIT));
    table.consume('ada', NOON);
    const lost = table.news(NOON);
    assert.ok(lost);
    table.takeBack(lost);
    const news = table.news(NOON);
    assert.ok(news);
    table.consume('ada', NOON);
    table.learn(news.id, store.tell(news), NOON);
    assert.equal(table.consume('ada', NOON).count, 3);
    store.exchange(table, NOON);
    const next = new RateTable('t', LIMIT);
    store.teach(next, NOON);
    assert.equal(next.consume('ada', NOON).within, false, 'a process that starts later knows it');
  });

  it('forgets a caller in all processes', () => {
    const store = new Store();
    const [here, there] = [shared(new RateTable('t', LIMIT)), shared(new RateTable('t', LIMIT))];
    for (let times = 0; times < 3; times++) here.consume('ada', NOON);
    store.exchange(here, NOON);
    store.teach(there, NOON);
    there.reset('ada');
    store.exchange(there, NOON);
    store.teach(here, NOON);
    assert.deepEqual(
      [here, there].map((table) => table.consume('ada', NOON).count),
      [1, 1],
    );
  });

  it('has nothing to share about refused requests, or without requests', () => {
    const table = shared(new RateTable('t', LIMIT));
    for (let times = 0; times < 5; times++) table.consume('ada', NOON);
    assert.deepEqual(table.news(NOON)?.add, { counts: { ada: 3 } });
    assert.equal(table.news(NOON), undefined);
    delete table.onNews;
    table.consume('bob', NOON);
    assert.equal(table.news(NOON), undefined);
  });

  it('allows, together with other processes, at most the limit and what they have not shared yet', () => {
    const steps = fc.array(fc.record({ at: fc.nat(2), share: fc.boolean() }), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (all) => {
        const store = new Store();
        const tables = [0, 1, 2].map(() => shared(new RateTable('t', LIMIT, 9)));
        let passed = 0;
        let unshared = 0;
        let mostUnshared = 0;
        for (const { at, share } of all) {
          if (tables[at]?.consume('ada', NOON).within) {
            passed += 1;
            unshared += 1;
          }
          mostUnshared = Math.max(mostUnshared, unshared);
          if (!share) continue;
          for (const table of tables) store.exchange(table, NOON);
          for (const table of tables) store.teach(table, NOON);
          unshared = 0;
        }
        assert.ok(
          passed <= LIMIT.requests + mostUnshared,
          `${passed} passed, ${mostUnshared} were not shared`,
        );
      }),
    );
  });
});

describe('blocks', () => {
  const settings = { firstMs: MINUTE, longestMs: 4 * MINUTE };
  const goOn = (blocks: RateBlocks, now: number, times = REFUSALS_PER_MINUTE) => {
    for (let i = 0; i < times; i++) blocks.refused('ada', now);
    return blocks.waitOf('ada', now) / MINUTE;
  };

  it('get longer with each minute in which a caller goes on, not with each request', () => {
    const blocks = new RateBlocks('b', settings);
    assert.equal(goOn(blocks, NOON, REFUSALS_PER_MINUTE - 1), 0);
    assert.equal(goOn(blocks, NOON, 5_000), 1);
    const waits = [1, 2, 3, 4].map((minute) => goOn(blocks, NOON + minute * MINUTE));
    assert.deepEqual(waits, [2, 4, 4, 4]);
    assert.equal(blocks.waitOf('bob', NOON), 0);
  });

  it('begin short again the next day, and do not end at midnight', () => {
    const blocks = new RateBlocks('b', { firstMs: MINUTE, longestMs: 60 * MINUTE });
    const late = Date.UTC(2026, 10, 21, 23, 58);
    assert.deepEqual([goOn(blocks, late), goOn(blocks, late + MINUTE)], [1, 2]);
    const midnight = late + 2 * MINUTE;
    assert.equal(blocks.waitOf('ada', midnight), MINUTE);
    assert.equal(goOn(blocks, midnight + 5 * MINUTE), 1);
  });

  it('are kept by all processes, and by those that start later; one minute makes one block longer', () => {
    const store = new Store();
    const [here, there] = [shared(new RateBlocks('b', settings)), shared(new RateBlocks('b', settings))];
    assert.deepEqual([goOn(here, NOON), goOn(there, NOON)], [1, 1]);
    for (const blocks of [here, there, here]) store.exchange(blocks, NOON);
    const next = shared(new RateBlocks('b', settings));
    store.teach(next, NOON);
    assert.equal(next.waitOf('ada', NOON), MINUTE);
    assert.equal(goOn(next, NOON + 1), (MINUTE - 1) / MINUTE, 'the same minute');
    assert.equal(goOn(next, NOON + MINUTE), 2);
  });

  it('are not forgotten because of callers who are refused now and then', () => {
    const blocks = new RateBlocks('b', settings, 2);
    goOn(blocks, NOON);
    for (let i = 0; i < 100; i++) blocks.refused(`other-${i}`, NOON);
    assert.equal(blocks.waitOf('ada', NOON), MINUTE);
  });
});
