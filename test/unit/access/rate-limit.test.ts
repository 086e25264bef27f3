import assert from 'node:assert/strict';
import { RateLimiter } from '../../../src/api/limits/rate-limiter.js';
import { parseRateLimits, renderPolicy, renderState } from '../../../src/domain/access/limits/rate-limit.js';

describe('rate limits', () => {
  it('are read from text', () => {
    assert.deepEqual(parseRateLimits('600/1m, 20000/1h'), [
      { requests: 600, windowMs: 60_000 },
      { requests: 20_000, windowMs: 3_600_000 },
    ]);
    assert.deepEqual(parseRateLimits('off'), []);
    for (const text of ['', '600', '600/m', '0/1m', '600/500ms', '600/1500ms', '600/2d', '-1/1m'])
      assert.throws(() => parseRateLimits(text), RangeError, text);
  });

  it('are written as the headers’ draft has it', () => {
    const [limit] = parseRateLimits('600/1m');
    assert.ok(limit);
    assert.equal(renderPolicy('token', [limit]), '"token-1m";q=600;w=60');
    assert.equal(renderState('token', [{ limit, remaining: 599, resetMs: 41_001 }]), '"token-1m";r=599;t=42');
  });
});

describe('a rate limiter', () => {
  const NOON = Date.UTC(2026, 10, 21, 12);
  const limiter = (text: string, refused: (policy: string) => void = () => {}) =>
    new RateLimiter('token', parseRateLimits(text), { firstMs: 120_000, longestMs: 480_000 }, refused);
  const wait = (limited: RateLimiter, now: number) =>
    Number(limited.consume('ada', now).refusal?.headers['retry-after'] ?? 0);

  it('lets a caller pass again after exactly what Retry-After says', () => {
    const limited = limiter('2/1m');
    const now = NOON + 12_300;
    assert.deepEqual([wait(limited, now), wait(limited, now), wait(limited, now)], [0, 0, 48]);
    assert.equal(wait(limited, now + 47_000), 1);
    assert.equal(wait(limited, now + 48_000), 0);
  });

  it('takes back what was counted, once, and nothing of another window', () => {
    const limited = limiter('2/1m');
    const [first] = [limited.consume('ada', NOON), limited.consume('ada', NOON)];
    assert.ok(limited.refuses('ada', NOON) && !limited.refuses('bob', NOON));
    first?.giveBack();
    first?.giveBack();
    assert.ok(!limited.refuses('ada', NOON));
    assert.deepEqual([wait(limited, NOON), wait(limited, NOON)], [0, 60]);
    const late = limited.consume('bob', NOON + 59_000);
    assert.equal(wait(limited, NOON + 60_000), 0);
    late.giveBack();
    assert.deepEqual([wait(limited, NOON + 60_000), wait(limited, NOON + 60_000)], [0, 60]);
  });

  it('counts several at once, or none of them', () => {
    const limited = limiter('5/1m');
    const several = (times: number) => limited.consume('ada', NOON + 12_000, undefined, times);
    const first = several(4);
    assert.match(several(2).refusal?.headers['retry-after'] ?? '', /^48$/);
    assert.equal(wait(limited, NOON + 12_000), 0, 'there is room for one');
    first.giveBack();
    assert.equal(several(4).refusal, undefined);
    assert.ok(limited.refuses('ada', NOON + 12_000));
  });

  it('blocks a caller that goes on, longer with every minute, but not for a tight loop of one second', () => {
    const limited = limiter('1/1s');
    const loop = Array.from({ length: 800 }, (_, i) => wait(limited, NOON + i));
    assert.deepEqual([loop[0], loop[9], loop[10], loop[799]], [0, 1, 120, 120]);
    assert.equal(Math.max(...Array.from({ length: 10 }, () => wait(limited, NOON + 60_000))), 240);
    assert.equal(wait(limited, NOON + 299_999), 1);
    assert.equal(wait(limited, NOON + 300_000), 0, 'as Retry-After said');
  });

  it('separates kinds of callers: many others do not make it forget a refused one', () => {
    const [logins, addresses] = [limiter('2/1d'), limiter('2/1d')];
    const waits = [1, 2, 3].map(() => wait(logins, NOON) > 0);
    assert.deepEqual(waits, [false, false, true]);
    for (let i = 0; i < 25_001; i++) {
      addresses.consume(`address-${i}`, NOON);
      logins.consume(`name-${i}`, NOON);
    }
    assert.ok(wait(logins, NOON) > 0);
  });

  it('says what is left of each limit, and which one was exceeded', () => {
    const refused: string[] = [];
    const limited = limiter('2/1m,3/1h', (policy) => refused.push(policy));
    const answers = [NOON, NOON, NOON, NOON + 60_000, NOON + 60_000].map((now) =>
      limited.consume('ada', now),
    );
    assert.deepEqual(
      answers.map(({ headers }) => headers['ratelimit']),
      [
        '"token-1m";r=1;t=60, "token-1h";r=2;t=3600',
        '"token-1m";r=0;t=60, "token-1h";r=1;t=3600',
        '"token-1m";r=0;t=60',
        '"token-1m";r=1;t=60, "token-1h";r=0;t=3540',
        '"token-1h";r=0;t=3540',
      ],
    );
    assert.deepEqual(refused, ['token-1m', 'token-1h']);
  });

  it('takes a caller’s own limit in place of all others, and says so', () => {
    const refused: string[] = [];
    const limited = limiter('2/1m,3/1h', (policy) => refused.push(policy));
    const own = Array.from({ length: 5 }, () => limited.consume('ada', NOON, 4));
    assert.deepEqual(
      own.map(({ headers }) => headers['ratelimit']),
      [3, 2, 1, 0, 0].map((left) => `"token-1m";r=${left};t=60`),
    );
    assert.ok(own.every(({ headers }) => headers['ratelimit-policy'] === '"token-1m";q=4;w=60'));
    assert.match(own[4]?.refusal?.message ?? '', /^More than 4 requests in 60 seconds/);
    assert.deepEqual(refused, ['token-1m']);
    assert.equal(wait(limited, NOON), 0, 'without a limit of its own it has not been counted');
    assert.equal(limited.consume('ada', NOON, 6).refusal, undefined);
    assert.equal(limiter('off').consume('ada', NOON, 1).headers['ratelimit'], '"token-1m";r=0;t=60');
  });

  it('shares what it counts with other processes, by its own limits and by those of a caller', () => {
    const [here, there] = [limiter('2/1m'), limiter('2/1m')];
    for (const table of here.tables) table.onNews = () => {};
    here.consume('ada', NOON, undefined, 2);
    here.consume('bob', NOON, 4, 4);
    for (const table of here.tables) {
      const { id = '', add = {} } = table.news(NOON) ?? {};
      there.tables.find(({ name }) => name === table.name)?.learn(id, add, NOON);
    }
    assert.ok(there.refuses('ada', NOON));
    assert.ok(there.consume('bob', NOON, 4).refusal);
    assert.equal(there.consume('eve', NOON, 4).refusal, undefined);
  });
});
