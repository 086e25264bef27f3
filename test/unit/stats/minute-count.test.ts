import assert from 'node:assert/strict';
import { arrivalQuantile, MinuteCount, sumOfMinutes } from '../../../src/domain/stats/minute-count.js';

const AT = Date.parse('2026-11-21T10:00:30Z');

describe('attempts by the minute', () => {
  it('are counted in the minute in which they ended, and once', () => {
    const count = new MinuteCount();
    count.add(AT, true, 12);
    count.add(AT + 20_000, false, undefined);
    count.add(AT + 40_000, true, 12);
    const rows = count.take();
    assert.deepEqual(
      rows.map(({ minute, succeeded, failed }) => [new Date(minute).toISOString(), succeeded, failed]),
      [
        ['2026-11-21T10:00:00.000Z', 1, 1],
        ['2026-11-21T10:01:00.000Z', 1, 0],
      ],
    );
    assert.deepEqual(count.take(), []);
    // What could not be written is counted with what came since.
    count.add(AT, true, 12);
    count.putBack(rows, AT);
    const { succeeded, failed, arrivals } = sumOfMinutes(count.take());
    assert.deepEqual([succeeded, failed, Object.values(arrivals)], [3, 1, [3]]);
    count.putBack(rows, AT + 24 * 3_600_000);
    assert.deepEqual(count.take(), []);
  });

  it('say within half of it how long what arrived had taken', () => {
    const count = new MinuteCount();
    for (let ms = 1; ms <= 1_000; ms += 1) count.add(AT, true, ms);
    const { arrivals } = sumOfMinutes(count.take());
    for (const [part, exact] of [
      [0.5, 500],
      [0.95, 950],
    ] as const) {
      const told = arrivalQuantile(arrivals, part) ?? 0;
      assert.ok(Math.abs(told - exact) < exact / 2, `${part}: ${told}`);
    }
    assert.equal(arrivalQuantile({}, 0.5), undefined);
    count.add(AT, true, Number.MAX_SAFE_INTEGER);
    assert.ok((arrivalQuantile(sumOfMinutes(count.take()).arrivals, 0.95) ?? 0) > 3_600_000);
  });
});
