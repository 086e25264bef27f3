import assert from 'node:assert/strict';
import fc from 'fast-check';
import { watchedBlocks } from '../../../src/bin/service/sequence/watched-blocks.js';
import { LEAP, leapAfter } from '../../../src/domain/sequence/lost-numbers.js';
import { NumberSource } from '../../../src/domain/sequence/number-source.js';
import {
  countIn,
  joined,
  missingIn,
  type NumberRange,
  sharedWith,
  toRanges,
  twiceIn,
} from '../../../src/domain/sequence/ranges.js';
import { type Blocks, SEQUENCE } from '../../../src/domain/sequence/sequence.js';

const numbersOf = ({ first, last }: NumberRange) =>
  Array.from({ length: last - first + 1 }, (_, at) => first + at);

/** Blocks of one account, as MongoDB would keep them. */
class MemoryBlocks implements Blocks {
  next = 1;
  reservations = 0;
  readonly open: (NumberRange & { holder: string })[] = [];
  readonly voids: NumberRange[] = [];
  readonly holders = new Map<string, Date>();

  async reserve(_: string, holder: string, size: number) {
    this.reservations += 1;
    const block = { first: this.next, last: this.next + size - 1, holder };
    this.next += size;
    this.open.push(block);
    return block;
  }

  async release(_: string, block: NumberRange, left: readonly NumberRange[], unsure?: NumberRange) {
    this.voids.push(...left);
    const at = this.open.findIndex(({ first }) => first === block.first);
    const [{ holder }] = this.open.splice(at, 1) as unknown as [{ holder: string }];
    if (unsure) this.open.push({ ...unsure, holder });
  }

  async hold(holder: string, until: Date) {
    this.holders.set(holder, until);
  }
}

describe('numbers of events', () => {
  it('are given one by one, with one write for a block that grows from a small one', async () => {
    const blocks = new MemoryBlocks();
    const source = new NumberSource(blocks);
    const taken = await Promise.all(Array.from({ length: 2_000 }, () => source.take('a')));
    assert.deepEqual(
      taken.map(({ number }) => number).sort((a, b) => a - b),
      Array.from({ length: 2_000 }, (_, at) => at + 1),
    );
    const sizes = blocks.open.map(({ first, last }) => last - first + 1);
    assert.deepEqual(sizes.slice(0, 3), [
      SEQUENCE.firstBlock,
      2 * SEQUENCE.firstBlock,
      4 * SEQUENCE.firstBlock,
    ]);
    assert.equal(Math.max(...sizes), SEQUENCE.largestBlock);
    assert.equal(blocks.reservations, sizes.length);
    for (const each of taken) each.used();
    await source.stop();
    assert.deepEqual(blocks.open, []);
    assert.deepEqual(toRanges(blocks.voids.flatMap(({ first, last }) => [first, last]))[0]?.first, 2_001);
    assert.equal(countIn(blocks.voids), blocks.next - 2_001);
  });

  it('that no event had are given again, or void; those of which nobody knows stay open', async () => {
    const blocks = new MemoryBlocks();
    const source = new NumberSource(blocks);
    const [one, two, three] = [await source.take('a'), await source.take('a'), await source.take('a')];
    two.unused();
    assert.equal((await source.take('a')).number, 2);
    one.used();
    three.unsure();
    // Said again it counts for nothing.
    three.unused();
    await source.stop();
    assert.deepEqual(blocks.voids, [{ first: 4, last: 4 }]);
    // 2 was in hand.
    assert.deepEqual(
      blocks.open.map(({ first, last }) => ({ first, last })),
      [{ first: 2, last: 3 }],
    );
  });

  it('are not given of a block whose lease ran out while the process stood still', async () => {
    const blocks = new MemoryBlocks();
    let now = 0;
    const source = new NumberSource(blocks, () => now);
    (await source.take('a')).used();
    now += SEQUENCE.holderLeaseMs;
    assert.equal((await source.take('a')).number, SEQUENCE.firstBlock + 1);
    assert.equal(blocks.holders.size, 2);
    await source.renew();
    assert.deepEqual(blocks.voids, [{ first: 2, last: SEQUENCE.firstBlock }]);
  });

  it('of a block that is not used any more are void after an hour, while the process goes on', async () => {
    const blocks = new MemoryBlocks();
    let now = 0;
    const source = new NumberSource(blocks, () => now);
    const held = await source.take('a');
    now += SEQUENCE.idleBlockMs / 2;
    await source.renew();
    now += SEQUENCE.idleBlockMs;
    await source.renew();
    // One is in hand.
    assert.deepEqual(blocks.voids, []);
    held.used();
    await source.renew();
    assert.deepEqual(blocks.voids, [{ first: 2, last: SEQUENCE.firstBlock }]);
    assert.deepEqual(blocks.open, []);
  });
});

describe('numbers after a restore', () => {
  it('are further above those that are known the longer nobody knows what was given', () => {
    const at = new Date('2026-11-28T12:00:00Z');
    const since = new Date('2026-11-27T12:00:00Z');
    assert.equal(leapAfter([]), LEAP.least);
    assert.equal(leapAfter([{ at, since }]), LEAP.least + 24 * 3_600_000 * LEAP.perMs);
    assert.equal(leapAfter([{ at: since, since: at }]), LEAP.least, 'a clock was wrong');
  });

  it('are given once it is known whether MongoDB was restored, and of each gap people are told', async () => {
    const at = '2026-11-28T12:00:00.000Z';
    const own = new MemoryBlocks();
    const told: string[] = [];
    let looked = 0;
    const blocks = watchedBlocks(
      {
        hold: (holder, until) => own.hold(holder, until),
        release: (...block) => own.release(...block),
        reserve: async (...asked) => ({
          ...(await own.reserve(...asked)),
          lost: { first: 1, last: 9, at, why: 'the sequence has no tag' },
        }),
      },
      {
        async hasLooked() {
          looked += 1;
          if (looked === 1) throw new Error('Temporal is away');
        },
      },
      (...said) => told.push(said.join(' ')),
    );
    const source = new NumberSource(blocks);
    await assert.rejects(source.take('a'), /Temporal is away/);
    assert.equal(own.reservations, 0);
    assert.equal((await source.take('a')).number, 1);
    assert.deepEqual(told, [
      'sequence_altered the sequence of a goes on at 1, because numbers from 1 on may have been given: the sequence has no tag',
    ]);
  });
});

describe('ranges of numbers', () => {
  const number = fc.integer({ min: 1, max: 40 });

  it('say what is missing between them', () => {
    fc.assert(
      fc.property(fc.array(number), number, number, (numbers, a, b) => {
        const range = { first: Math.min(a, b), last: Math.max(a, b) };
        const missing = missingIn(range, toRanges(numbers));
        const expected = Array.from({ length: range.last - range.first + 1 }, (_, at) => range.first + at);
        assert.deepEqual(missing, toRanges(expected.filter((each) => !numbers.includes(each))));
        const shared = toRanges(expected.filter((each) => numbers.includes(each)));
        assert.deepEqual(sharedWith(range, toRanges(numbers)), shared);
        const pairs = numbers.map((one) => ({ first: one, last: one + 2 }));
        const all = toRanges(pairs.flatMap(({ first }) => [first, first + 1, first + 2]));
        assert.deepEqual(toRanges(joined(pairs).flatMap(numbersOf)), all);
        const twice = numbers.filter((one, at) => numbers.indexOf(one) < at);
        assert.deepEqual(twiceIn(numbers), new Set(twice));
      }),
    );
  });
});
