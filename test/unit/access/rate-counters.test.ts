import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RateCounters } from '../../../src/domain/access/rate-counters.js';

const MINUTE = 60_000;
const LIMIT = { requests: 3, window_ms: MINUTE };
/** The start of a minute. */
const NOON = Date.UTC(2026, 10, 21, 12);

describe('counters of one process', () => {
  it('count exactly up to the limit, and anew in each window of the clock', () => {
    const counters = new RateCounters();
    const late = NOON + 59_000;
    const counts = Array.from({ length: 4 }, () => counters.consume('ada', LIMIT, late));
    assert.deepEqual(counts, [
      { within: true, count: 1, before: 0, reset_ms: 1_000 },
      { within: true, count: 2, before: 1, reset_ms: 1_000 },
      { within: true, count: 3, before: 2, reset_ms: 1_000 },
      { within: false, count: 3, before: 3, reset_ms: 1_000 },
    ]);
    assert.deepEqual(counters.consume('ada', LIMIT, late + 999), {
      ...counts[3],
      reset_ms: 1,
    });
    assert.deepEqual(counters.consume('ada', LIMIT, late + 1_000), {
      within: true,
      count: 1,
      before: 0,
      reset_ms: MINUTE,
    });
    assert.equal(counters.consume('bob', LIMIT, late).count, 1);
  });

  it('let nobody pass who is blocked, beyond the window too, until the block ends', () => {
    const counters = new RateCounters();
    counters.consume('ada', LIMIT, NOON);
    counters.block('ada', NOON + 90_000);
    assert.deepEqual(counters.consume('ada', LIMIT, NOON + 70_000), {
      within: false,
      count: 0,
      before: 0,
      reset_ms: 20_000,
    });
    assert.ok(counters.consume('ada', LIMIT, NOON + 90_000).within);
  });

  it('forget whoever has been quiet for longest, when there are too many', () => {
    const counters = new RateCounters(2);
    for (const key of ['ada', 'bob', 'ada', 'cyd']) counters.consume(key, LIMIT, NOON);
    assert.deepEqual(
      counters.open(NOON).map(({ key, count }) => [key, count]),
      [
        ['ada', 2],
        ['cyd', 1],
      ],
    );
  });
});

describe('counters of several processes', () => {
  const tell = (from: RateCounters, to: RateCounters, now: number, name = 'peer') =>
    to.learn(name, from.open(now));

  it('add what the others told to their own', () => {
    const [here, there] = [new RateCounters(), new RateCounters()];
    there.consume('ada', LIMIT, NOON);
    there.consume('ada', LIMIT, NOON + 1);
    tell(there, here, NOON + 2);
    assert.deepEqual(here.consume('ada', LIMIT, NOON + 3), {
      within: true,
      count: 3,
      before: 2,
      reset_ms: MINUTE - 3,
    });
    assert.equal(here.consume('ada', LIMIT, NOON + 4).within, false);
    assert.ok(here.consume('ada', LIMIT, NOON + MINUTE).within, 'the window they told of has ended');
  });

  it('tell the same thing twice without counting it twice', () => {
    const [here, there] = [new RateCounters(), new RateCounters()];
    there.consume('ada', LIMIT, NOON);
    tell(there, here, NOON);
    tell(there, here, NOON);
    assert.equal(here.consume('ada', LIMIT, NOON).count, 2);
  });

  it('block together', () => {
    const [here, there] = [new RateCounters(), new RateCounters()];
    there.consume('ada', LIMIT, NOON);
    there.block('ada', NOON + 2 * MINUTE);
    tell(there, here, NOON + MINUTE);
    assert.deepEqual(here.consume('ada', LIMIT, NOON + MINUTE), {
      within: false,
      count: 0,
      before: 0,
      reset_ms: MINUTE,
    });
  });

  it('say whether there is something to tell: what was counted and blocked, not what was refused', () => {
    const counters = new RateCounters();
    let news = 0;
    counters.onNews = () => {
      news += 1;
    };
    for (let times = 0; times < 5; times++) counters.consume('ada', LIMIT, NOON);
    assert.equal(news, 3);
    counters.block('ada', NOON + 1);
    assert.equal(news, 4);
  });

  it('forget what has ended, their own and what they were told', () => {
    const [here, there] = [new RateCounters(), new RateCounters()];
    there.consume('ada', LIMIT, NOON);
    tell(there, here, NOON);
    here.consume('bob', LIMIT, NOON);
    assert.equal(here.open(NOON + MINUTE - 1).length, 1);
    assert.deepEqual(here.open(NOON + MINUTE), []);
    assert.equal(here.consume('ada', LIMIT, NOON).count, 1, 'what the peer told has been forgotten');
  });

  it('let pass together at most what the limit says, and what each counted since they told each other', () => {
    const steps = fc.array(fc.record({ at: fc.nat(2), share: fc.boolean() }), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (all) => {
        const processes = [new RateCounters(), new RateCounters(), new RateCounters()];
        let passed = 0;
        let untold = 0;
        let mostUntold = 0;
        for (const { at, share } of all) {
          if (processes[at]?.consume('ada', LIMIT, NOON).within) {
            passed += 1;
            untold += 1;
          }
          mostUntold = Math.max(mostUntold, untold);
          if (!share) continue;
          for (const [from, teller] of processes.entries()) {
            for (const hearer of processes) if (hearer !== teller) tell(teller, hearer, NOON, String(from));
          }
          untold = 0;
        }
        assert.ok(passed <= LIMIT.requests + mostUntold, `${passed} passed, ${mostUntold} were not told`);
      }),
    );
  });
});
