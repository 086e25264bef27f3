import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { clockOfEach, mockMonotonic } from '../../../../test/support/clock.js';
import { type NameAnswer, UnresolvedNameError } from '../../src/names/name-answer.js';
import { NameLookups } from '../../src/names/name-lookups.js';

const ADDRESS = { address: '192.0.2.1', family: 4 };
const OTHER = { address: '192.0.2.2', family: 4 };
const never = () => new Promise<NameAnswer>(() => {});
/** Lets everything happen that waits for nothing. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Counts what is asked, and answers as told. */
function dns(answer: (name: string, asked: number) => NameAnswer | Promise<NameAnswer>) {
  const asked: string[] = [];
  const lookups = new NameLookups(
    async (name) => {
      asked.push(name);
      return answer(name, asked.filter((each) => each === name).length);
    },
    // The account `a of p` belongs to the platform `p`; of `lost` nobody knows.
    async (account) => (account === 'lost' ? fails('failed') : account.split(' of ')[1]),
  );
  const outcome = (name: string, account?: string) =>
    lookups.resolve(name, account).then(
      ({ addresses }) => addresses.map(({ address }) => address).join(' '),
      (error: UnresolvedNameError) => error.reason,
    );
  return { asked, lookups, outcome };
}

const fails = (reason: UnresolvedNameError['reason']): never => {
  throw new UnresolvedNameError(reason);
};

describe('look-ups of names', () => {
  clockOfEach(1_000_000, 'setTimeout');
  /** How far this machine's clock was set back, milliseconds. */
  let setBackMs: number;
  beforeEach(() => {
    setBackMs = 0;
    mockMonotonic(() => Date.now() + setBackMs);
  });

  it('are one for all who ask at the same time, whatever the case of the letters', async () => {
    const { asked, outcome } = dns(() => ({ addresses: [ADDRESS], ttlMs: 0 }));
    const names = ['a.test', 'A.test', 'a.TEST', 'b.test'];
    assert.deepEqual(
      new Set(await Promise.all(names.map((name) => outcome(name)))),
      new Set([ADDRESS.address]),
    );
    assert.deepEqual(asked, ['a.test', 'b.test']);
  });

  it('are kept for as long as DNS says, five minutes at most, and not at all with a TTL of 0', async () => {
    for (const [ttlMs, keptMs] of [
      [30_000, 30_000],
      [86_400_000, 300_000],
    ] as const) {
      const { asked, lookups } = dns(() => ({ addresses: [ADDRESS], ttlMs }));
      const began = performance.now();
      for (const _ of [1, 2]) assert.equal((await lookups.resolve('a.test')).expiresAt, began + keptMs);
      mock.timers.tick(keptMs - 1);
      await lookups.resolve('a.test');
      assert.equal(asked.length, 1);
      mock.timers.tick(2);
      await lookups.resolve('a.test');
      assert.equal(asked.length, 2);
    }
    const { asked, outcome } = dns((_, times) => ({ addresses: [times % 2 ? ADDRESS : OTHER], ttlMs: 0 }));
    assert.deepEqual([await outcome('a.test'), await outcome('a.test')], ['192.0.2.1', '192.0.2.2']);
    assert.equal(asked.length, 2);
  });

  it('are kept no longer if the clock of the machine is set back', async () => {
    const { asked, lookups } = dns(() => ({ addresses: [ADDRESS], ttlMs: 30_000 }));
    mock.timers.setTime(10_000_000);
    const { expiresAt } = await lookups.resolve('a.test');
    assert.equal(expiresAt, performance.now() + 30_000);
    setBackMs = 3_600_000;
    mock.timers.setTime(Date.now() - setBackMs + 30_001);
    await lookups.resolve('a.test');
    assert.equal(asked.length, 2);
  });

  it('are not kept if they are not from DNS', async () => {
    const { asked, lookups } = dns(() => ({ addresses: [ADDRESS] }));
    for (const _ of [1, 2]) assert.equal((await lookups.resolve('a.test')).expiresAt, undefined);
    assert.equal(asked.length, 2);
  });

  it('are kept in vain: shortly, and failures for twice as long each time, a minute at most', async () => {
    for (const [reason, kept] of [
      ['not_found', [5, 5, 5]],
      ['no_addresses', [5, 5, 5]],
      ['too_many', [5, 5, 5]],
      ['silent', [5, 10, 20, 40, 60, 60]],
      ['refused', [5, 10, 20, 40, 60, 60]],
      ['failed', [5, 10, 20, 40, 60, 60]],
    ] as const) {
      const { asked, outcome } = dns(() => fails(reason));
      for (const [index, seconds] of kept.entries()) {
        assert.equal(await outcome('a.test'), reason);
        mock.timers.tick(seconds * 1_000 - 1);
        assert.equal(await outcome('a.test'), reason);
        assert.equal(asked.length, index + 1, `${reason} after ${index} failures`);
        mock.timers.tick(2);
      }
    }
  });

  it('end after 4.5 s, for all who wait, and the next one succeeds if DNS answers again', async () => {
    const { asked, outcome } = dns((_, times) =>
      times === 1 ? never() : { addresses: [ADDRESS], ttlMs: 1_000 },
    );
    const waiting = Promise.all([outcome('a.test'), outcome('a.test')]);
    await settled();
    mock.timers.tick(4_500);
    assert.deepEqual(await waiting, ['silent', 'silent']);
    mock.timers.tick(5_001);
    assert.equal(await outcome('a.test'), ADDRESS.address);
    assert.equal(asked.length, 2);
  });

  it('of names that fail are made a few at a time, and those of others never wait for them', async () => {
    const dead = Array.from({ length: 50 }, (_, index) => `dead-${index}.test`);
    const { asked, outcome } = dns((name) =>
      name.startsWith('dead') ? never() : { addresses: [ADDRESS], ttlMs: 0 },
    );
    const first = Promise.all(dead.map((name) => outcome(name)));
    // In the midst of them, though nothing is known of any yet, and no time passes.
    assert.equal(await outcome('healthy.test'), ADDRESS.address);
    mock.timers.tick(4_500);
    assert.deepEqual(new Set(await first), new Set(['silent']));
    // What was found to be silent is not asked about again for a while.
    await Promise.all(dead.map((name) => outcome(name)));
    assert.equal(asked.length, 50 + 1);
    mock.timers.tick(5_001);
    void dead.map((name) => outcome(name));
    await settled();
    assert.equal(asked.length, 51 + 16);
    for (const name of ['healthy.test', 'new.test']) assert.equal(await outcome(name), ADDRESS.address);
    mock.timers.tick(4_500);
    await settled();
    assert.equal(asked.length, 53 + 32, 'sixteen more had their turn');
  });

  /** Names that are silent, asked for by accounts: they have failed once, and have just been asked for again. */
  async function silent(names: Record<string, number>) {
    const all = Object.entries(names).flatMap(([account, count]) =>
      Array.from({ length: count }, (_, at) => ({
        account,
        name: `${at}.${account.replaceAll(' ', '-')}.test`,
      })),
    );
    let isBack = false;
    const { asked, outcome } = dns((name) =>
      name === 'victim.test' && isBack ? { addresses: [ADDRESS], ttlMs: 0 } : never(),
    );
    const ask = () => all.map(({ name, account }) => outcome(name, account));
    void ask();
    void outcome('victim.test', 'victim');
    await settled();
    mock.timers.tick(4_500);
    await settled();
    mock.timers.tick(5_001);
    asked.length = 0;
    isBack = true;
    void ask();
    await settled();
    const of = (account: string) =>
      asked.filter((name) => name.endsWith(`.${account.replaceAll(' ', '-')}.test`)).length;
    return { asked, outcome, of };
  }

  it('of names that failed begin at once, however many of another account or platform wait', async () => {
    const { asked, outcome, of } = await silent({ 'a of p': 300, 'b of p': 300, 'c of p': 300, lost: 300 });
    assert.deepEqual(
      ['a of p', 'b of p', 'c of p', 'lost'].map(of),
      [16, 16, 0, 16],
      'as many of an account, and of a platform, as may be at once',
    );
    asked.length = 0;
    assert.equal(await outcome('victim.test', 'victim'), ADDRESS.address);
    assert.deepEqual(asked, ['victim.test']);
  });

  it('of names that failed take turns, when as many are made as may be', async () => {
    const { asked, outcome, of } = await silent({ a: 40, b: 40, c: 40, d: 40, 'e of p': 40, 'f of p': 3 });
    assert.equal(asked.length, 64);
    const victim = outcome('victim.test', 'victim');
    await settled();
    assert.ok(!asked.includes('victim.test'));
    asked.length = 0;
    mock.timers.tick(4_500);
    assert.equal(await victim, ADDRESS.address);
    await settled();
    assert.equal(asked.slice(0, 3).includes('victim.test'), true, 'of those who have had no turn');
    assert.equal(of('f of p'), 3, 'an account does not wait for another one of its platform');
  });

  it('of a name that waits for one account are made as soon as it is the turn of another that asks', async () => {
    const { asked, outcome } = await silent({ a: 300 });
    void outcome('victim.test', 'a');
    await settled();
    assert.ok(!asked.includes('victim.test'));
    assert.equal(await outcome('victim.test', 'victim'), ADDRESS.address);
  });

  it('take in what comes later of an answer', async () => {
    let tell: (answer: NameAnswer) => void = () => {};
    const whole = new Promise<NameAnswer>((resolve) => {
      tell = resolve;
    });
    const { outcome } = dns(() => ({ addresses: [ADDRESS], ttlMs: 60_000, whole }));
    assert.equal(await outcome('a.test'), '192.0.2.1');
    tell({ addresses: [ADDRESS, OTHER], ttlMs: 60_000 });
    await settled();
    assert.equal(await outcome('a.test'), '192.0.2.1 192.0.2.2');
  });

  it('keep no more addresses than fit, however many a name has', async () => {
    const many = Array.from({ length: 20_000 }, () => ADDRESS);
    const { asked, lookups } = dns(() => ({ addresses: many, ttlMs: 60_000 }));
    for (const name of ['a.test', 'b.test', 'c.test', 'a.test']) await lookups.resolve(name);
    assert.deepEqual(asked, ['a.test', 'b.test', 'c.test', 'a.test']);
  });
});
