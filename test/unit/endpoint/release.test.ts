import assert from 'node:assert/strict';
import { probeWait } from '../../../src/domain/endpoint/breaker/circuit-breaker.js';
import { answersWell, failsAgain, nextReleaseRate } from '../../../src/domain/endpoint/release.js';
import { toUnits } from '../../../src/temporal/write/parked-deliveries.js';

const GOOD = { delivered: 10, failed: 0, undecided: 0 };

describe('the rate of a release', () => {
  it('doubles while everything is delivered, up to its limit', () => {
    const rates = [10];
    while (rates.length < 8) rates.push(nextReleaseRate(rates.at(-1) ?? 0, GOOD, 500));
    assert.deepEqual(rates, [10, 20, 40, 80, 160, 320, 500, 500]);
  });

  it('stays while most are delivered and none failed', () => {
    assert.equal(nextReleaseRate(320, { delivered: 6, failed: 0, undecided: 4 }, 500), 320);
  });

  it('halves if most answers are slow, or one is bad, down to one a second', () => {
    const slow = { delivered: 5, failed: 0, undecided: 5 };
    const bad = { delivered: 9, failed: 1, undecided: 0 };
    assert.deepEqual([nextReleaseRate(320, slow, 500), nextReleaseRate(15, bad, 500)], [160, 7]);
    assert.equal(nextReleaseRate(1, bad, 500), 1);
  });

  it('is of attempts in the direct lane once the endpoint answers well', () => {
    const samples = [GOOD, { ...GOOD, undecided: 9 }, { ...GOOD, undecided: 10 }, { ...GOOD, failed: 1 }];
    assert.deepEqual(samples.map(answersWell), [true, true, false, false]);
  });

  it('is never above a limit below one a second', () => {
    const bad = { delivered: 0, failed: 0, undecided: 1 };
    assert.deepEqual([nextReleaseRate(0.1, bad, 0.1), nextReleaseRate(0.1, GOOD, 0.1)], [0.1, 0.1]);
  });

  it('stays if nothing is known', () => {
    assert.equal(nextReleaseRate(40, { delivered: 0, failed: 0, undecided: 0 }, 500), 40);
  });

  it('falls to one a second if the endpoint fails again, but not for one bad payload', () => {
    assert.equal(nextReleaseRate(320, { delivered: 5, failed: 5, undecided: 0 }, 500), 1);
    assert.equal(failsAgain({ delivered: 5, failed: 5, undecided: 0 }), true);
    assert.equal(failsAgain({ delivered: 0, failed: 1, undecided: 9 }), true);
    assert.equal(failsAgain({ delivered: 9, failed: 1, undecided: 0 }), false);
    assert.equal(failsAgain({ delivered: 0, failed: 0, undecided: 10 }), false);
  });
});

describe('the probes of a failing endpoint', () => {
  const times = (interval: number, count: number) => {
    let at = 0;
    return Array.from({ length: count }, (_, probes) => {
      at += probeWait(probes, interval);
      return at / 1_000;
    });
  };

  it('come after 5, 10, 20 and 40 s, then at the interval, which doubles', () => {
    assert.deepEqual(times(60_000, 7), [5, 10, 20, 40, 100, 220, 460]);
  });

  it('come no later than the interval says', () => {
    assert.deepEqual(times(1_000, 5), [1, 2, 3, 4, 5]);
  });

  it('come at most 60 times less often', () => {
    assert.equal(probeWait(100, 60_000), 60 * 60_000);
  });
});

describe('the signals of a release', () => {
  it('are one for a delivery, and one for neighbours in a group, however many are released', () => {
    const waiting = (id: string, workflowId: string, runId?: string) => ({
      id,
      accountId: 'acct_1',
      workflowId,
      startedAt: '2026-03-01T12:00:00Z',
      attempts: 0,
      ...(runId && { runId }),
    });
    const group = (id: string, name: string) => waiting(id, `group:${name}`);
    const deliveries = [
      waiting('1', 'delivery:1', 'run-1'),
      group('2', 'a'),
      group('3', 'a'),
      group('4', 'b'),
      waiting('5', 'delivery:5', 'run-5'),
    ];
    assert.deepEqual(
      toUnits(deliveries).map((unit) => unit.map(({ id }) => id)),
      [['1'], ['2', '3'], ['4'], ['5']],
    );
  });
});
