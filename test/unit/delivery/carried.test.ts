import assert from 'node:assert/strict';
import type { Attempt } from '../../../src/domain/attempt/attempt.js';
import { carriedOn, MAX_CARRIED_CHARACTERS, madeWhole } from '../../../src/domain/delivery/carried.js';
import { MAX_EVENT_GROUP_SIZE } from '../../../src/domain/delivery/delivery.js';
import { MAX_ATTEMPTS } from '../../../src/domain/delivery/delivery-machine.js';
import type { DeliverySnapshot } from '../../../src/domain/delivery/delivery-state.js';

function snapshot(attempts: number): DeliverySnapshot {
  const made = Array.from(
    { length: attempts },
    (_, index): Attempt => ({
      number: index + 1,
      at: '2026-03-01T12:00:00.000Z',
      duration_ms: 5_000,
      url: `https://shop.example/${'x'.repeat(200)}`,
      status_code: 503,
      response_headers: { server: 'x'.repeat(200) },
      response_snippet: 'x'.repeat(1_024),
      trigger: 'schedule',
    }),
  );
  const state = { kind: 'waiting', plan: { at: 0, trigger: 'schedule' } } as const;
  return { record: { status: 'retrying', attempts: made }, state, failed: attempts };
}

const size = (value: unknown) => JSON.stringify(value).length;

describe('what an execution takes into its next run', () => {
  it('is all of it, if that fits', () => {
    const some = [snapshot(3), snapshot(1)];
    assert.deepEqual(carriedOn(some), some);
  });

  it('has the oldest attempts without what was answered, and the latest whole', () => {
    const [carried] = carriedOn([snapshot(10)], size(snapshot(6)));
    const attempts = carried?.record.attempts ?? [];
    assert.deepEqual(
      attempts.map(({ number }) => number),
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    );
    assert.equal(attempts[0]?.shortened, true);
    assert.equal(attempts[0]?.response_snippet, undefined);
    assert.ok(attempts[0]?.url);
    assert.deepEqual(attempts.at(-1), snapshot(10).record.attempts.at(-1));
    assert.ok(size(carried) <= size(snapshot(6)));
  });

  it('fits into an input, however many deliveries have as many attempts as they may', () => {
    const all = Array.from({ length: MAX_EVENT_GROUP_SIZE }, () => snapshot(MAX_ATTEMPTS));
    const carried = carriedOn(all);
    assert.ok(size(all) > 10 * 1024 * 1024);
    assert.ok(size(carried) < 2 * MAX_CARRIED_CHARACTERS, `${size(carried)}`);
    for (const { record } of carried) assert.equal(record.attempts.length, MAX_ATTEMPTS);
  });

  it('is read whole with what the run before has', () => {
    const before = snapshot(10).record.attempts;
    const [carried] = carriedOn([snapshot(10)], size(snapshot(2)));
    assert.deepEqual(madeWhole(carried?.record.attempts ?? [], before), before);
    assert.deepEqual(madeWhole(carried?.record.attempts ?? [], []), carried?.record.attempts);
  });
});
