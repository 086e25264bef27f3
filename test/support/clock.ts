import { mock } from 'node:test';
import { mongodbClock, temporalClock } from '../../src/domain/time/shared-time.js';

/**
 * A clock that a test sets, for each test of a suite: time passes by `mock.timers.tick` alone, also for what goes by
 * MongoDB's clock, which another file of tests in this process may still follow.
 *
 * @param now where it begins, milliseconds since the epoch
 * @param apis what is mocked besides `Date`
 */
export function clockOfEach(now: number, ...apis: 'setTimeout'[]): void {
  beforeEach(() => {
    mock.timers.enable({ apis: ['Date', ...apis], now });
    mock.method(mongodbClock, 'now', () => Date.now());
  });
  afterEach(() => {
    mock.timers.reset();
    mock.restoreAll();
  });
}

/**
 * A monotonic clock that a test sets, until `mock.restoreAll`. Times of servers, which another file of tests in this
 * process may still follow, are not compared with it: they would be minutes off afterwards.
 */
export function mockMonotonic(now: () => number): void {
  mock.method(performance, 'now', now);
  for (const clock of [mongodbClock, temporalClock]) mock.method(clock, 'read', () => {});
}
