import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  FairQueue,
  type Job,
  LANES,
  type Lane,
  MAX_WAITING_PER_ACCOUNT,
  MAX_WAITING_PER_PLATFORM,
  RecentUse,
  SPENT_MS,
} from '../../../src/api/payloads/fair-queue.js';

const LANE_NAMES = Object.keys(LANES) as Lane[];
/** Those that a job asks for. */
const ASKED = LANE_NAMES.filter((name) => name !== 'spent');

function job(account: string, platform = account, { lane = 'long', steps = 1 }: Partial<Job> = {}): Job {
  return { owner: { account, platform }, lane, steps };
}

/** Something that happens to a queue: a job comes, or the oldest running one ends. */
const step = fc.oneof(
  fc.record({
    account: fc.integer({ min: 0, max: 7 }),
    platform: fc.constantFrom('p1', 'p2', undefined),
    lane: fc.constantFrom(...ASKED),
    steps: fc.integer({ min: 1, max: 100 }),
  }),
  fc.record({ tookMs: fc.integer({ min: 1, max: 5_000 }) }),
);

describe('the order of checks', () => {
  let queue: FairQueue<Job>;
  beforeEach(() => {
    queue = new FairQueue();
  });
  const push = (...jobs: Job[]) => jobs.map((one) => queue.push(one));
  /** Runs one job after the other. */
  const runAll = (tookMs: number) => {
    const order: Job[] = [];
    for (let one = queue.next(0); one; one = queue.next(0)) {
      order.push(one);
      queue.end(one, tookMs, 0);
    }
    return order.map(({ owner }) => owner.account);
  };

  it('is fair to platforms, not to accounts: eight accounts of one wait behind a single account of nobody', () => {
    push(...Array.from({ length: 8 }, (_, i) => job(`a${i}`, 'p')), job('victim'), job('victim'));
    assert.deepEqual(runAll(2_000).slice(0, 4), ['a0', 'victim', 'a1', 'victim']);
  });

  it('is fair to the accounts of a platform', () => {
    push(job('a', 'p'), job('a', 'p'), job('a', 'p'), job('b', 'p'));
    assert.deepEqual(runAll(100), ['a', 'b', 'a', 'a']);
  });

  it('puts quick ones of an account first, and then those that came first', () => {
    const [slow, quick, later] = [job('a', 'p', { steps: 9 }), job('a', 'p'), job('a', 'p')] as const;
    push(slow, quick, later);
    for (const expected of [quick, later, slow]) {
      assert.equal(queue.next(0), expected);
      queue.end(expected, 1, 0);
    }
  });

  it('keeps lanes apart: whatever waits or runs in one, a schema or a quick check starts', () => {
    push(...Array.from({ length: 20 }, (_, i) => job(`a${i}`, `p${i}`)));
    assert.ok(queue.next(0) && queue.next(0));
    assert.equal(queue.next(0), undefined, 'the lane is full');
    for (const lane of ['schema', 'quick'] as const) {
      const victim = job('victim', 'victim', { lane });
      push(victim);
      assert.equal(queue.next(0), victim);
    }
  });

  it('has one payload at a time of a platform that has used much, and it gives way until that is a while ago', () => {
    const [first, second, third] = [job('a', 'p'), job('a', 'p'), job('a', 'p', { lane: 'quick', steps: 2 })];
    push(first, second);
    assert.equal(queue.next(0), first);
    assert.ok(!queue.isSpent(first), 'it has used nothing before');
    queue.end(first, SPENT_MS, 0);
    push(third);
    assert.equal(queue.next(0), second);
    assert.ok(queue.isSpent(second));
    const [victim, schema] = [job('victim'), job('a', 'p', { lane: 'schema' })];
    push(victim, schema);
    assert.deepEqual(new Set([queue.next(0), queue.next(0)]), new Set([victim, schema]));
    assert.ok(!queue.isSpent(victim) && !queue.isSpent(schema));
    assert.equal(queue.next(0), undefined, 'one of the platform runs already');
    queue.end(second, 1, 0);
    assert.equal(queue.next(60_000), third);
    assert.ok(!queue.isSpent(third));
  });

  it('forgets use with time', () => {
    const use = new RecentUse();
    const owner = { account: 'a', platform: 'p' };
    use.add(owner, 1_000, 0);
    use.add({ account: 'b', platform: 'p' }, 1_000, 10_000);
    assert.deepEqual([use.ofAccount(owner, 10_000), use.ofPlatform(owner, 10_000)], [500, 1_500]);
    assert.ok(use.ofPlatform(owner, 1_000_000) < 1e-9);
  });

  it('has room for some of each account and platform', () => {
    const accepted = (jobs: Job[]) => push(...jobs).filter(Boolean).length;
    const many = (account: string, platform?: string) =>
      Array.from({ length: 150 }, () => job(account, platform));
    assert.equal(accepted([...many('a', 'p'), ...many('b', 'p')]), 2 * MAX_WAITING_PER_ACCOUNT);
    assert.equal(2 * MAX_WAITING_PER_ACCOUNT, MAX_WAITING_PER_PLATFORM);
    assert.equal(accepted(many('c', 'p')), 0, 'the platform waits for enough');
    assert.equal(accepted(many('victim')), MAX_WAITING_PER_ACCOUNT);
  });

  it('lets a job be taken back while it waits', () => {
    const waits = job('a');
    push(waits);
    assert.ok(queue.drop(waits));
    assert.ok(!queue.drop(waits));
    assert.equal(queue.next(0), undefined);
  });

  it('whatever happens: a newcomer is next in its lane, nothing is lost, and nobody has more than a share', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), fc.constantFrom(...ASKED), (steps, lane) => {
        const ours = new FairQueue<Job>();
        const running: Job[] = [];
        const waiting = new Set<Job>();
        const haveUsed = new Set<string>();
        let [now, pushed, ended] = [0, 0, 0];
        const laneOf = (one: Job) => (ours.isSpent(one) ? 'spent' : one.lane);
        const start = () => {
          for (let one = ours.next(now); one; one = ours.next(now)) {
            running.push(one);
            waiting.delete(one);
          }
          for (const name of LANE_NAMES) {
            const ofLane = running.filter((one) => laneOf(one) === name);
            assert.ok(ofLane.length <= LANES[name]);
            assert.equal(new Set(ofLane.map(({ owner }) => owner.platform)).size, ofLane.length);
          }
        };
        const finish = (one: Job, tookMs: number) => {
          running.splice(running.indexOf(one), 1);
          ours.end(one, tookMs, now);
          haveUsed.add(one.owner.platform);
          ended += 1;
        };
        for (const one of steps) {
          now += 1;
          if ('tookMs' in one) {
            if (running[0]) finish(running[0], one.tookMs);
          } else {
            const { account, platform, ...rest } = one;
            const arrives = job(`${platform}/a${account}`, platform ?? `a${account}`, rest);
            assert.ok(ours.push(arrives));
            waiting.add(arrives);
            pushed += 1;
          }
          start();
        }
        const newcomer = job('victim', 'victim', { lane, steps: 1_000 });
        assert.ok(ours.push(newcomer));
        pushed += 1;
        // Behind those alone that came before it and have used nothing lately either.
        const before = [...waiting].filter((one) => one.lane === lane && !haveUsed.has(one.owner.platform));
        const ahead = new Set(before.map(({ owner }) => owner.platform)).size;
        start();
        let turns = 0;
        for (; !running.includes(newcomer); turns += 1) {
          finish(running.find((one) => laneOf(one) === lane) ?? assert.fail('its lane is idle'), 1_000);
          start();
        }
        assert.ok(turns <= ahead + 1, `${turns} turns, ${ahead} before it`);
        while (running[0]) {
          finish(running[0], 1);
          start();
        }
        assert.equal(ended, pushed);
      }),
      { numRuns: 300 },
    );
  });
});
