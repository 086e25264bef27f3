import assert from 'node:assert/strict';
import type { AttemptReport } from '../../../src/domain/attempt/attempt-report.js';
import { inColumns, reportsOf } from '../../../src/domain/records/row/delivered-attempts.js';

const ENDED = Date.parse('2026-03-01T12:00:05.000Z');

describe('what came of attempts', () => {
  const attempts = [1, 2, 1, 4].map((number, index) => ({ index, number, trigger: 'schedule' as const }));
  const delivered = (position: number, more: object = {}): AttemptReport => ({
    kind: 'attempted',
    attempt: {
      number: attempts[position]?.number ?? 0,
      at: `2026-03-01T12:00:00.${100 + position}Z`,
      ...{ duration_ms: 10 + position, status_code: 200 + position, trigger: 'schedule', shortened: true },
      ...more,
    },
    outcome: 'delivered',
    ended_at: ENDED,
  });
  const all = attempts.map((_, position) => delivered(position));
  const failed: AttemptReport = { ...delivered(1), outcome: 'failed' } as AttemptReport;
  const cases: [string, (AttemptReport | null)[], number[] | undefined][] = [
    ['all delivered', all, undefined],
    ['some failed, and not made', [all[0] ?? null, failed, null, all[3] ?? null], [0, 3]],
    ['an attempt with an error', [delivered(0, { error_code: 'reset' }), ...all.slice(1)], [1, 2, 3]],
    ['a try that was lost', [delivered(0, { lost_tries: 1 }), ...all.slice(1)], [1, 2, 3]],
    ['another number than was asked for', [delivered(0, { number: 7 }), ...all.slice(1)], [1, 2, 3]],
    ['another time of its end', [...all.slice(0, 3), { ...delivered(3), ended_at: ENDED + 1 }], [0, 1, 2]],
    [
      'a time that is not as all are',
      [delivered(0, { at: '2026-03-01T12:00Z' }), ...all.slice(1)],
      [1, 2, 3],
    ],
    [
      'a wait that is asked for',
      [{ ...delivered(0), retry_after_ms: 5 } as AttemptReport, ...all.slice(1)],
      [1, 2, 3],
    ],
  ];
  for (const [name, reports, positions] of cases)
    it(`is the same out of columns: ${name}`, () => {
      const made = JSON.parse(JSON.stringify(inColumns(reports, attempts)));
      assert.deepEqual(made.delivered?.positions, positions);
      assert.deepEqual(reportsOf(made, attempts), reports);
    });

  it('stays as it is where nothing was delivered, or nobody says when it ended', () => {
    const none = [failed, null, null, null];
    assert.deepEqual(inColumns(none, attempts), { reports: none });
    const { ended_at: _, ...unended } = delivered(0);
    assert.deepEqual(inColumns([unended], attempts), { reports: [unended] });
    assert.equal(reportsOf({ reports: none }, attempts), none);
  });

  it('takes few bytes', () => {
    assert.ok(JSON.stringify(inColumns(all, attempts)).length < 200);
  });
});
