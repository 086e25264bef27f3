import assert from 'node:assert/strict';
import { describeAttempt } from '../../../src/domain/attempt/outcome.js';
import {
  DEFAULT_RETRY_SCHEDULE,
  isRetryWait,
  MAX_JITTER,
  MAX_WAITS,
  nextAttempt,
  parseRetrySchedule,
} from '../../../src/domain/endpoint/retry-schedule.js';
import { MAX_RETRY_AFTER_MS, parseRetryAfter } from '../../../src/domain/http/retry-after.js';

const NOW = Date.UTC(2026, 0, 31, 12, 0, 0, 500);
const SECOND = 1_000;
const HOUR = 3_600_000;

describe('the retry schedule', () => {
  it('is by default the example of Standard Webhooks: 10 attempts over 75 h 35 m 5 s', () => {
    const m = 60 * SECOND;
    assert.deepEqual(DEFAULT_RETRY_SCHEDULE, [
      5 * SECOND,
      5 * m,
      30 * m,
      2 * HOUR,
      5 * HOUR,
      10 * HOUR,
      14 * HOUR,
      20 * HOUR,
      24 * HOUR,
    ]);
    const total = DEFAULT_RETRY_SCHEDULE.reduce((sum, wait) => sum + wait, 0);
    assert.equal(total, 75 * HOUR + 35 * m + 5 * SECOND);
  });

  it('gives each wait in turn, and then none', () => {
    for (const [index, wait] of DEFAULT_RETRY_SCHEDULE.entries()) {
      assert.deepEqual(nextAttempt(DEFAULT_RETRY_SCHEDULE, index + 1, NOW, undefined, 0), {
        at: NOW + wait,
        trigger: 'schedule',
      });
    }
    assert.equal(nextAttempt(DEFAULT_RETRY_SCHEDULE, 10, NOW, undefined, 0), undefined);
    assert.equal(nextAttempt([], 1, NOW, undefined, 0), undefined);
  });

  it('is lengthened at random by up to a tenth, and never shortened', () => {
    for (const wait of DEFAULT_RETRY_SCHEDULE) {
      for (const random of [0, 0.001, 0.5, 0.999_999_999]) {
        const at = nextAttempt([wait], 1, NOW, undefined, random)?.at ?? 0;
        assert.ok(at >= NOW + wait, `${wait} at ${random}`);
        assert.ok(at <= NOW + wait * (1 + MAX_JITTER), `${wait} at ${random}`);
      }
    }
    assert.equal(nextAttempt([1_000], 1, NOW, undefined, 0.5)?.at, NOW + 1_050);
  });

  it('gives way to a Retry-After that is later, and to no other', () => {
    const later = NOW + 10 * SECOND;
    assert.deepEqual(nextAttempt([5 * SECOND], 1, NOW, later, 0.9), { at: later, trigger: 'retry_after' });
    assert.deepEqual(nextAttempt([5 * SECOND], 1, NOW, NOW + SECOND, 0), {
      at: NOW + 5 * SECOND,
      trigger: 'schedule',
    });
    // Where jitter and Retry-After compete, the later one wins: it is never earlier than the endpoint asked.
    assert.equal(nextAttempt([5 * SECOND], 1, NOW, NOW + 5_100, 0.9)?.at, NOW + 5_450);
    assert.equal(nextAttempt([5 * SECOND], 1, NOW, NOW + 5_449, 0)?.at, NOW + 5_449);
  });

  it('does not go on for a Retry-After once it is exhausted', () => {
    assert.equal(nextAttempt([5 * SECOND], 2, NOW, NOW + HOUR, 0), undefined);
  });

  it('is read from text', () => {
    assert.deepEqual(parseRetrySchedule('5s, 5m ,2h'), [5_000, 300_000, 7_200_000]);
    assert.deepEqual(parseRetrySchedule(''), []);
    assert.throws(() => parseRetrySchedule('5s,soon'), /"soon" is not a duration/);
    assert.equal(parseRetrySchedule(Array(MAX_WAITS).fill('1s').join(',')).length, 50);
    assert.throws(
      () =>
        parseRetrySchedule(
          Array(MAX_WAITS + 1)
            .fill('1s')
            .join(','),
        ),
      /at most 50/,
    );
  });

  it('of an endpoint has waits from 100 ms to 7 days', () => {
    for (const text of ['100ms', '5s', '7d', '168h']) assert.ok(isRetryWait(text), text);
    for (const text of ['99ms', '0s', '8d', '169h', '5', 'soon', '']) assert.ok(!isRetryWait(text), text);
  });
});

describe('Retry-After', () => {
  const cases: [string, string | undefined, number | undefined][] = [
    ['seconds', '120', 120 * SECOND],
    ['seconds among spaces', ' 120 ', 120 * SECOND],
    ['no wait', '0', undefined],
    ['a date', 'Sat, 31 Jan 2026 12:00:10 GMT', 9_500],
    ['a date that is past', 'Sat, 31 Jan 2026 12:00:00 GMT', undefined],
    ['a date of long ago', 'Thu, 01 Jan 1970 00:00:00 GMT', undefined],
    ['seconds beyond 72 hours', String(100 * 3_600), MAX_RETRY_AFTER_MS],
    ['more seconds than a number holds', '9'.repeat(400), MAX_RETRY_AFTER_MS],
    ['a date beyond 72 hours', 'Fri, 31 Dec 2027 23:59:59 GMT', MAX_RETRY_AFTER_MS],
    ['exactly 72 hours', String(72 * 3_600), 72 * HOUR],
    ['nothing', undefined, undefined],
    ['an empty value', '', undefined],
    ['a fraction', '1.5', undefined],
    ['a negative number', '-5', undefined],
    ['words', 'tomorrow', undefined],
    ['a number with a unit', '5s', undefined],
    ['an ISO date', '2026-01-31T13:00:00Z', undefined],
    ['a date that does not exist', 'Sat, 99 Jan 2026 12:00:10 GMT', undefined],
    ['a date of another zone', 'Sat, 31 Jan 2026 12:00:10 CET', undefined],
  ];
  for (const [name, value, expected] of cases) {
    it(`that is ${name}`, () => assert.equal(parseRetryAfter(value, NOW), expected));
  }
});

describe('an attempt', () => {
  it('is described in words', () => {
    const attempt = { number: 1, at: '', duration_ms: 1, trigger: 'schedule' } as const;
    assert.equal(describeAttempt({ ...attempt, status_code: 503 }), 'got a 503 response');
    assert.equal(
      describeAttempt({ ...attempt, error_code: 'timeout', error: 'no response within 5s' }),
      'failed: no response within 5s',
    );
  });
});
