import assert from 'node:assert/strict';
import type { AttemptReport } from '../../../src/domain/delivery/attempt-report.js';
import { DeliveryMachine } from '../../../src/domain/delivery/delivery-machine.js';
import {
  DEFERRED,
  isDeferral,
  parkedFor,
  resultIn,
  wasAskedToWait,
} from '../../../src/domain/delivery/reasons.js';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const attempted = (outcome: 'failed' | 'gone' | 'blocked', more: object = {}): AttemptReport => ({
  kind: 'attempted',
  outcome,
  attempt: { number: 1, at: new Date(NOW).toISOString(), duration_ms: 5, trigger: 'schedule', ...more },
  ...(outcome === 'failed' && more),
});
const stopped = (
  endpoint: 'pending' | 'paused' | 'disabled' | 'failing' | 'busy',
  reason?: string,
): AttemptReport => ({
  kind: 'not_attempted',
  endpoint,
  ...(reason && { reason }),
});

function reasonAfter(report: AttemptReport, act?: 'pause'): string {
  const machine = new DeliveryMachine(
    { schedule: [60_000, 60_000], attempt_timeout_ms: 5_000, park_limit_ms: 86_400_000 },
    { now: () => NOW, random: () => 0 },
  );
  machine.settle(report);
  if (act) machine.act(act, 'key_1');
  return machine.record.reason ?? '';
}

describe('the reason of a delivery', () => {
  it('says why it is parked, as the machine writes it', () => {
    assert.equal(parkedFor(reasonAfter(stopped('paused', 'Stock-taking: back at 5.'))), 'paused');
    assert.equal(parkedFor(reasonAfter(stopped('paused'))), 'paused');
    assert.equal(parkedFor(reasonAfter(stopped('disabled', 'It answered 410 Gone.'))), 'disabled');
    assert.equal(parkedFor(reasonAfter(stopped('pending'))), 'pending');
    assert.equal(
      parkedFor(reasonAfter(stopped('failing', 'since 2026-11-21T11:00:00.000Z, so …'))),
      'failing',
    );
    assert.equal(parkedFor(reasonAfter(stopped('busy', '64 attempts wait for its answer.'))), 'busy');
    assert.equal(parkedFor(reasonAfter(attempted('gone', { status_code: 410 }))), 'gone');
    assert.equal(
      parkedFor(reasonAfter(attempted('blocked', { error_code: 'blocked_address' }))),
      'address_blocked',
    );
    assert.equal(
      parkedFor(reasonAfter(attempted('failed', { status_code: 500 }), 'pause')),
      'delivery_paused',
    );
  });

  it('says what it waits for', () => {
    const failed = reasonAfter(attempted('failed', { status_code: 500 }));
    const asked = reasonAfter(
      attempted('failed', { status_code: 503, retry_after: new Date(NOW + 3_600_000).toISOString() }),
    );
    const turn = new Date(NOW + 1_000).toISOString();
    const deferred = reasonAfter({ kind: 'deferred', turn, reason: `${DEFERRED}at most 1 per second.` });
    assert.deepEqual([failed, asked, deferred].map(wasAskedToWait), [false, true, false]);
    assert.deepEqual([failed, asked, deferred].map(isDeferral), [false, false, true]);
    const refused = reasonAfter(attempted('failed', { error_code: 'timeout', error: 'no answer within 5s' }));
    assert.deepEqual(
      [failed, asked, refused, deferred, 'The endpoint answered 2xx.', 'Resumed by Attempt 1.'].map(resultIn),
      [{ status_code: 500 }, { status_code: 503 }, 'unanswered', undefined, undefined, undefined],
    );
    assert.deepEqual([failed, asked, deferred].map(parkedFor), [undefined, undefined, undefined]);
  });
});
