import assert from 'node:assert/strict';
import { FAULT_KINDS } from '../../../bench/chaos/plan/kinds.js';
import { kindsIn, planOf, tell } from '../../../bench/chaos/plan/plan.js';

const MINUTE_MS = 60_000;
const SEEDS = Array.from({ length: 50 }, (_, seed) => seed);

describe('the plan of a chaos run', () => {
  it('is the same for a seed, and another one for another seed', () => {
    assert.deepEqual(planOf(7, MINUTE_MS), planOf(7, MINUTE_MS));
    assert.notDeepEqual(planOf(7, MINUTE_MS).rounds, planOf(8, MINUTE_MS).rounds);
  });

  it('begins as a shorter one of the same seed', () => {
    const short = planOf(7, MINUTE_MS).rounds;
    assert.deepEqual(planOf(7, 5 * MINUTE_MS).rounds.slice(0, short.length), short);
  });

  it('has every kind of fault, if it is long enough', () => {
    for (const seed of SEEDS)
      assert.deepEqual(kindsIn(planOf(seed, 5 * MINUTE_MS)), FAULT_KINDS.map(({ name }) => name).sort());
  });

  it('has the kinds that were chosen alone', () => {
    assert.deepEqual(kindsIn(planOf(7, MINUTE_MS, ['node-killed', 'temporal-cut'])), [
      'node-killed',
      'temporal-cut',
    ]);
  });

  it('makes faults alone and together, never two of one thing', () => {
    const strikes = new Map(FAULT_KINDS.map(({ name, strikes }) => [name, strikes]));
    const rounds = SEEDS.flatMap((seed) => planOf(seed, 2 * MINUTE_MS).rounds);
    const sizes = new Set(rounds.map(({ faults }) => faults.length));
    assert.deepEqual([...sizes].sort(), [1, 2, 3]);
    for (const { faults } of rounds) {
      const struck = faults.map(({ name }) => strikes.get(name));
      assert.equal(new Set(struck).size, struck.length, struck.join());
      assert.ok(!(struck.includes('nodes') && (struck.includes('node') || struck.includes('link'))));
      assert.ok(!(struck.includes('disk') && (struck.includes('temporal') || struck.includes('mongodb'))));
    }
  });

  it('deletes the account once', () => {
    for (const seed of SEEDS) {
      const acts = planOf(seed, 5 * MINUTE_MS).rounds.flatMap((round) => round.acts);
      assert.equal(acts.filter(({ name }) => name === 'delete-account').length, 1);
    }
  });

  it('is told in a line for each fault and act', () => {
    const plan = planOf(7, MINUTE_MS);
    const lines = tell(plan);
    const counts = plan.rounds.map(({ faults, acts }) => faults.length + acts.length + 2);
    assert.equal(lines.length, 1 + counts.reduce((sum, count) => sum + count, 0));
    assert.match(lines[0] ?? '', /^plan of seed 7: \d+ rounds$/);
  });
});
