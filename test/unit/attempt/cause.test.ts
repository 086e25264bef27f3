import assert from 'node:assert/strict';
import type { AttemptReport } from '../../../src/domain/attempt/attempt-report.js';
import { DELETED_REASON, ERASED_REASON, reasonOf } from '../../../src/domain/attempt/cause.js';
import type { DeliveryRecord } from '../../../src/domain/delivery/delivery.js';
import { DeliveryMachine } from '../../../src/domain/delivery/delivery-machine.js';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const attempted = (outcome: 'failed' | 'gone' | 'blocked', more: object = {}): AttemptReport => ({
  kind: 'attempted',
  outcome,
  attempt: { number: 1, at: new Date(NOW).toISOString(), duration_ms: 5, trigger: 'schedule', ...more },
  ...(outcome === 'failed' && more),
});
const stopped = (
  endpoint: 'pending' | 'paused' | 'disabled' | 'failing' | 'busy',
  more: object = {},
): AttemptReport => ({ kind: 'not_attempted', endpoint, ...more });

/** The record of a delivery after the report of its first attempt. */
function recordAfter(
  report: AttemptReport,
  act?: 'pause' | 'cancel',
  waits = [60_000, 60_000],
): DeliveryRecord {
  const machine = new DeliveryMachine(
    { schedule: waits, attempt_timeout_ms: 5_000, park_limit_ms: 86_400_000 },
    { now: () => NOW, random: () => 0 },
  );
  machine.settle(report);
  if (act) machine.act(act, 'key_1');
  return machine.record;
}

const at = (ms: number) => new Date(NOW + ms).toISOString();

describe('the cause of a delivery', () => {
  it('is told in one sentence for each fact', () => {
    const failed = attempted('failed', { status_code: 500 });
    const told: [DeliveryRecord, string][] = [
      [recordAfter(stopped('paused')), 'The endpoint is paused.'],
      [recordAfter(stopped('paused', { reason: 'Back at 5.' })), 'The endpoint is paused: Back at 5.'],
      [
        recordAfter(stopped('disabled', { reason: 'It responded with 410 Gone.' })),
        'The endpoint is disabled: It responded with 410 Gone.',
      ],
      [
        recordAfter(stopped('failing', { since: at(0) })),
        `The endpoint is failing: since ${at(0)}, so new deliveries wait until it responds again.`,
      ],
      [
        recordAfter(stopped('busy', { in_flight: 64 })),
        'The endpoint is busy: 64 attempts wait for its response.',
      ],
      [
        recordAfter(attempted('gone', { status_code: 410 })),
        'Attempt 1 got a 410 response. The endpoint was disabled.',
      ],
      [
        recordAfter(attempted('blocked', { error_code: 'blocked_address', error: 'no public address' })),
        'Attempt 1 failed: no public address. It waits until the endpoint has another URL, or is retried.',
      ],
      [recordAfter(failed, 'pause'), 'Paused by key_1.'],
      [recordAfter(failed, 'cancel'), 'Cancelled by key_1.'],
      [recordAfter(failed), `Attempt 1 got a 500 response. Next attempt at ${at(60_000)}.`],
      [
        recordAfter(failed, undefined, []),
        'Attempt 1 got a 500 response. That was the last of the schedule.',
      ],
      [
        recordAfter(attempted('failed', { status_code: 503, retry_after_ms: 3_600_000 })),
        `Attempt 1 got a 503 response. Next attempt at ${at(3_600_000)}, as its Retry-After asked.`,
      ],
      [
        recordAfter({ kind: 'deferred', turn: at(5_000), wait_ms: 1_000, per_second: 0.5 }),
        `Deferred: the endpoint gets at most 0.5 deliveries per second. Next attempt at ${at(1_000)}.`,
      ],
      [recordAfter({ kind: 'erased' }), ERASED_REASON],
      [recordAfter({ kind: 'not_attempted', endpoint: 'deleted' }), DELETED_REASON],
    ];
    for (const [record, text] of told) assert.equal(reasonOf(record), text);
  });

  it('has the facts of the latest attempt, and what it led to', () => {
    const { cause, asked_to_wait } = recordAfter(
      attempted('failed', { status_code: 503, retry_after_ms: 3_600_000 }),
    );
    assert.deepEqual(cause, { code: 'attempt', number: 1, status_code: 503 });
    assert.equal(asked_to_wait, true);
    assert.deepEqual(recordAfter(attempted('blocked', { error_code: 'blocked_address' })).cause, {
      code: 'attempt',
      number: 1,
      error_code: 'blocked_address',
      led_to: 'address_blocked',
    });
  });

  it('keeps what a delivery was parked for when it expires', () => {
    let now = NOW;
    const machine = new DeliveryMachine(
      { schedule: [], attempt_timeout_ms: 5_000, park_limit_ms: 86_400_000 },
      { now: () => now, random: () => 0 },
    );
    machine.settle(stopped('paused'));
    now += 86_400_000;
    machine.step();
    assert.equal(reasonOf(machine.record), 'Parked for 1d, the limit. The endpoint is paused.');
  });
});
