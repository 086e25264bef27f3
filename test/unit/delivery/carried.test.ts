import assert from 'node:assert/strict';
import type { Attempt } from '../../../src/domain/attempt/attempt.js';
import { carriedOn, MAX_CARRIED_BYTES, nextRun } from '../../../src/domain/delivery/carried.js';
import { MAX_EVENT_GROUP_SIZE, MAX_GROUP_SIZE } from '../../../src/domain/delivery/delivery.js';
import type { LiveGroup } from '../../../src/domain/delivery/delivery-group.js';
import { type DeliverySnapshot, MAX_ATTEMPTS } from '../../../src/domain/delivery/delivery-state.js';
import { encodedBytes, MAX_VALUE_BYTES } from '../../../src/domain/text/encoded-bytes.js';

function snapshot(attempts: number, more: Partial<Attempt> = {}): DeliverySnapshot {
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
      ...more,
    }),
  );
  const state = { kind: 'waiting', plan: { at: 0, trigger: 'schedule' } } as const;
  return { record: { status: 'retrying', attempts: made }, state, failed: attempts };
}

const size = encodedBytes;

/** The input of a group of deliveries of so many events, which has ids alone. */
function group(deliveries: number, events = deliveries): LiveGroup {
  const id = 'x'.repeat(30);
  return {
    events: Array.from({ length: events }, () => ({
      ...{ account_id: id, event_id: id, event_kind: 'x'.repeat(128) },
      accepted_at: '2026-03-01T12:00:00.000Z',
    })),
    deliveries: Array.from({ length: deliveries }, (_, index) => ({
      event: index % events,
      endpoint_id: id,
      schedule: Array.from({ length: 50 }, () => 86_400_000),
    })),
  } as unknown as LiveGroup;
}

describe('what an execution takes into its next run', () => {
  it('is all of it, if that fits', () => {
    const some = [snapshot(3), snapshot(1)];
    assert.deepEqual(carriedOn(some), some);
  });

  it('has the oldest attempts without what is sealed of them, and the latest whole', () => {
    const [carried] = carriedOn([snapshot(10)], size(snapshot(6)));
    const attempts = carried?.record.attempts ?? [];
    assert.deepEqual(
      attempts.map(({ number }) => number),
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    );
    assert.equal(attempts[0]?.shortened, true);
    assert.equal(attempts[0]?.response_snippet, undefined);
    assert.equal(attempts[0]?.status_code, 503);
    assert.deepEqual(attempts.at(-1), snapshot(10).record.attempts.at(-1));
    assert.ok(size(carried) <= size(snapshot(6)));
  });

  it('fits into an input, however many deliveries have as many attempts as they may', () => {
    const all = Array.from({ length: MAX_EVENT_GROUP_SIZE }, () => snapshot(MAX_ATTEMPTS));
    const carried = carriedOn(all);
    assert.ok(size(all) > 10 * 1024 * 1024);
    assert.ok(size(carried) < 2 * MAX_CARRIED_BYTES, `${size(carried)}`);
    for (const { record } of carried) assert.equal(record.attempts.length, MAX_ATTEMPTS);
  });

  it('fits beside the rest of its input, in bytes as Temporal counts them, whatever endpoints responded', () => {
    const chinese = { response_snippet: '\u96ea'.repeat(1_024) };
    const quoted = { response_snippet: '"'.repeat(1_024) };
    const marks = { response_snippet: '\u0001'.repeat(1_024) };
    const untrusted = { status_code: undefined, error_code: 'tls_certificate_untrusted' } as const;
    for (const [what, input, one] of [
      ['60 deliveries of 20 attempts', group(MAX_GROUP_SIZE), snapshot(20, chinese)],
      ['20 of 50', group(20, 2), snapshot(50, chinese)],
      ['quotation marks', group(20, 1), snapshot(50, quoted)],
      ['control characters', group(20, 1), snapshot(50, marks)],
      [
        'as many as there can be',
        group(MAX_EVENT_GROUP_SIZE, 1),
        snapshot(MAX_ATTEMPTS, untrusted as Partial<Attempt>),
      ],
    ] as const) {
      const next = nextRun(
        input,
        input.deliveries.map(() => one),
      );
      assert.ok(encodedBytes(next) <= MAX_VALUE_BYTES, `${what}: ${encodedBytes(next)} bytes`);
      assert.equal(encodedBytes(next), Buffer.byteLength(JSON.stringify(next)));
      for (const { record } of next.so_far ?? []) {
        assert.equal(record.attempts.length, one.record.attempts.length, what);
        assert.ok(record.attempts.at(-1)?.status_code ?? record.attempts.at(-1)?.error_code, what);
      }
    }
  });
});
