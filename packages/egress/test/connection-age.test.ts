import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { mock } from 'node:test';
import { clockOfEach, mockMonotonic } from '../../../test/support/clock.js';
import { beginUse, endUse, greatestAge, limitAge } from '../src/connection-age.js';

const SECOND = 1_000;

describe('the age of a connection', () => {
  clockOfEach(1_000_000, 'setTimeout');
  beforeEach(() => mockMonotonic(() => 50_000));

  it('is five minutes at most, less by the TTL of its name, and ten seconds at least', () => {
    const good = (seconds: number) => performance.now() + seconds * SECOND;
    assert.deepEqual(
      [undefined, good(0), good(10), good(60), good(86_400)].map(
        (expiresAt) => greatestAge(expiresAt) / SECOND,
      ),
      [300, 10, 10, 60, 300],
    );
    assert.equal(greatestAge(good(60), 30 * SECOND), 30 * SECOND);
    assert.equal(greatestAge(good(0), SECOND), SECOND, 'an operator may have less');
  });

  it('ends it at once if nothing goes on, and otherwise when that is over', () => {
    const [idle, busy] = [new Socket(), new Socket()];
    for (const socket of [idle, busy]) limitAge(socket, '192.0.2.1', SECOND);
    beginUse(idle);
    endUse(idle);
    beginUse(busy);
    mock.timers.tick(SECOND - 1);
    assert.deepEqual([idle.destroyed, busy.destroyed], [false, false]);
    mock.timers.tick(1);
    assert.deepEqual([idle.destroyed, busy.destroyed], [true, false]);
    endUse(busy);
    assert.ok(busy.destroyed);
  });
});
