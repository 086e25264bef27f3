import assert from 'node:assert/strict';
import { ended, handOver, timed } from '../../../activities/delivery/hand-over.js';
import type { AttemptReport } from '../../../src/domain/attempt/attempt-report.js';
import { temporalClock } from '../../../src/domain/time/shared-time.js';
import { answered } from '../../support/parts/answered.js';

const ASKED_AT = Date.parse('2026-01-31T12:00:00Z');

describe('reports that are handed to a workflow together', () => {
  let passed: number;
  const now = performance.now;
  beforeEach(() => {
    passed = 1_000;
    performance.now = () => passed;
  });
  afterEach(() => {
    performance.now = now;
    temporalClock.forget();
  });

  const asked = (): AttemptReport => ({ ...answered(503), retry_after_ms: 20_000 }) as AttemptReport;

  it('have their waits counted from then, however long before an attempt ended', () => {
    const reports = [
      asked(),
      { kind: 'deferred', turn: '12:00', wait_ms: 900, per_second: 1 } as const,
      { kind: 'not_attempted', endpoint: 'busy', look_again_ms: 8_000 } as const,
      answered(200),
    ].map(ended);
    passed += 5_000;
    const [first, ...others] = handOver([...reports, ended(asked()), null]);
    assert.deepEqual(
      [first, ...others].map(
        (report) =>
          report &&
          (report.kind === 'attempted'
            ? report.retry_after_ms
            : report.kind === 'deferred'
              ? report.wait_ms
              : report.kind === 'not_attempted' && report.look_again_ms),
      ),
      [15_000, 0, 3_000, undefined, 20_000, null],
    );
  });

  it('of a try that was lost keep theirs', () => {
    const [report] = handOver([JSON.parse(JSON.stringify(ended(asked())))]);
    assert.ok(report?.kind === 'attempted');
    assert.deepEqual([report.retry_after_ms, report.ended_at], [20_000, undefined]);
  });

  it("of a local activity say when it ended, by the workflow's time and what has passed", async () => {
    const [report] = await timed(ASKED_AT, async () => {
      passed += 1_234;
      return [ended(answered(503))];
    });
    assert.equal(report?.ended_at, ASKED_AT + 1_234);
  });

  it("of one that began late say so by Temporal's clock, where that is known better", async () => {
    temporalClock.read(ASKED_AT + 700);
    const [report] = await timed(ASKED_AT, async () => [ended(answered(503))]);
    assert.equal(report?.ended_at, ASKED_AT + 700);
  });
});
