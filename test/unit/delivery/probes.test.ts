import assert from 'node:assert/strict';
import { reasonOf } from '../../../src/domain/attempt/cause.js';
import { MAX_PROBED_ATTEMPTS } from '../../../src/domain/delivery/delivery-state.js';
import { MOST_RELEASES_IN_A_ROW } from '../../../src/domain/endpoint/release.js';
import { Bench, HOUR, PARK_LIMIT, START } from '../../support/parts/delivery-bench.js';

describe('a delivery that probes its endpoint', () => {
  const failed = (bench: Bench, retryAfter?: string) => {
    assert.equal(bench.machine.probe(), true);
    assert.equal(bench.machine.probe(), false, 'once');
    assert.deepEqual(bench.machine.step(), { kind: 'attempt', trigger: 'probe' });
    bench.handOver();
    assert.equal(bench.machine.settle(bench.answer('probe', 503, retryAfter)), 'open');
  };

  it('that fails keeps its plan, its schedule, and its releases in a row', () => {
    const bench = new Bench(() => 0, [HOUR, HOUR]);
    bench.machine.settle(bench.answer('schedule', 500));
    for (let probes = 0; probes < 2 * MOST_RELEASES_IN_A_ROW; probes += 1) failed(bench);
    assert.match(reasonOf(bench.machine.record) ?? '', /^Attempt 7 got a 503 response\. Next attempt at /);
    for (const expected of [true, true, true, false]) {
      assert.equal(bench.machine.release(MOST_RELEASES_IN_A_ROW), expected);
      if (!expected) break;
      bench.machine.step();
      bench.machine.settle(bench.answer('released', 500));
      failed(bench);
    }
    assert.equal(bench.next(), 'schedule');
    assert.equal(bench.now, START + HOUR);
    bench.machine.settle(bench.answer('schedule', 500));
    assert.equal(bench.next(), 'schedule', 'a second retry');
  });

  it('that fails leaves it parked as it was', () => {
    const bench = new Bench(() => 0, [HOUR]);
    bench.machine.settle({ kind: 'not_attempted', endpoint: 'failing', since: 'noon' });
    bench.now += HOUR;
    failed(bench);
    const { status, cause, attempts } = bench.machine.record;
    assert.deepEqual([status, cause], ['parked', { code: 'endpoint', status: 'failing', since: 'noon' }]);
    assert.equal(attempts.length, 1);
    bench.machine.release();
    assert.deepEqual(bench.machine.step(), { kind: 'attempt', trigger: 'released' });
    bench.machine.settle({ kind: 'not_attempted', endpoint: 'paused' });
    assert.equal(bench.next(), undefined);
    assert.equal(bench.now, START + PARK_LIMIT);
  });

  it('is attempted once more if it was released meanwhile', () => {
    const bench = new Bench();
    bench.machine.settle({ kind: 'not_attempted', endpoint: 'failing' });
    bench.machine.probe();
    bench.machine.step();
    bench.machine.release();
    bench.machine.settle(bench.answer('probe', 503));
    assert.deepEqual(bench.machine.step(), { kind: 'attempt', trigger: 'released' });
  });

  it('is not called before its Retry-After, however it waited', () => {
    const parked = new Bench(() => 0, [HOUR]);
    parked.machine.settle({ kind: 'not_attempted', endpoint: 'failing' });
    const planned = new Bench(() => 0, [HOUR]);
    planned.machine.settle(planned.answer('schedule', 500));
    for (const bench of [parked, planned]) {
      failed(bench, '7200');
      assert.equal(bench.machine.probe(), false);
      assert.equal(bench.machine.release(), false);
      assert.equal(bench.next(), 'retry_after');
      assert.equal(bench.now, START + 2 * HOUR);
    }
  });

  it('that is not made changes nothing', () => {
    const bench = new Bench(() => 0, [HOUR]);
    bench.machine.settle(bench.answer('schedule', 500));
    const before = bench.machine.snapshot;
    for (const report of [
      { kind: 'not_attempted', endpoint: 'busy' },
      { kind: 'deferred', turn: new Date(START + 1_000).toISOString(), wait_ms: 1_000, per_second: 1 },
    ] as const) {
      bench.machine.probe();
      bench.machine.step();
      bench.machine.settle(report);
      assert.deepEqual(bench.machine.snapshot, before);
    }
  });

  it('is not chosen with many attempts, while it is paused, or when an attempt is due', () => {
    const bench = new Bench(() => 0, [HOUR]);
    bench.machine.settle(bench.answer('schedule', 500));
    while (bench.machine.record.attempts.length < MAX_PROBED_ATTEMPTS) failed(bench);
    assert.equal(bench.machine.probe(), false);
    const paused = new Bench(() => 0, [HOUR]);
    paused.machine.settle(paused.answer('schedule', 500));
    paused.machine.act('pause', 'key_1');
    assert.equal(paused.machine.probe(), false);
    const due = new Bench(() => 0, [HOUR]);
    due.machine.settle(due.answer('schedule', 500));
    due.now += HOUR;
    assert.equal(due.machine.probe(), false);
  });

  it('that succeeds is over', () => {
    const bench = new Bench();
    bench.machine.settle({ kind: 'not_attempted', endpoint: 'failing' });
    bench.machine.probe();
    bench.machine.step();
    assert.equal(bench.machine.settle(bench.answer('probe', 200)), 'closed');
  });
});
