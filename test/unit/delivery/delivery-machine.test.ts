import assert from 'node:assert/strict';
import type { Trigger } from '../../../src/domain/attempt/attempt.js';
import type { AttemptReport } from '../../../src/domain/attempt/attempt-report.js';
import { type DeliveryRecord, isClosed } from '../../../src/domain/delivery/delivery.js';
import type { Action } from '../../../src/domain/delivery/delivery-machine.js';
import { MAX_ATTEMPTS, MAX_INTERVENTIONS } from '../../../src/domain/delivery/delivery-state.js';
import { MOST_RELEASES_IN_A_ROW } from '../../../src/domain/endpoint/release.js';
import { DEFAULT_RETRY_SCHEDULE } from '../../../src/domain/endpoint/retry-schedule.js';
import { Bench, HOUR, PARK_LIMIT, START } from '../../support/parts/delivery-bench.js';

const ACTIONS = ['retry', 'cancel', 'pause', 'resume'] as const satisfies Action[];

describe('the delivery machine', () => {
  it('goes through the whole schedule, never early, and is exhausted', () => {
    const bench = new Bench(() => 0.999);
    const times: number[] = [];
    for (let trigger: Trigger | undefined = 'schedule'; trigger; trigger = bench.next()) {
      times.push(bench.now);
      bench.machine.settle(bench.answer(trigger, 500));
    }
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    assert.equal(waits.length, DEFAULT_RETRY_SCHEDULE.length);
    for (const [index, wait] of waits.entries()) {
      const planned = DEFAULT_RETRY_SCHEDULE[index] ?? 0;
      assert.ok(wait >= planned && wait <= Math.ceil(planned * 1.1), `wait ${index + 1} was ${wait}`);
    }
    assert.equal(bench.machine.record.status, 'exhausted');
  });

  it('promises the time at which it asks for the attempt', () => {
    const bench = new Bench(Math.random);
    for (let trigger: Trigger | undefined = 'schedule'; trigger; trigger = bench.next()) {
      const promised = bench.machine.record.next_attempt_at;
      if (promised) assert.equal(new Date(bench.now).toISOString(), promised);
      bench.machine.settle(bench.answer(trigger, 503, '7200'));
    }
  });

  it('waits as long as Retry-After asks, up to 72 h, whatever the schedule says', () => {
    const bench = new Bench();
    bench.machine.settle(bench.answer('schedule', 429, String(72 * 3_600)));
    assert.equal(bench.next(), 'retry_after');
    assert.equal(bench.now, START + 72 * HOUR);
  });

  it('is released from the time on that Retry-After asked for, and not a moment before', () => {
    const bench = new Bench(() => 0, [2 * HOUR]);
    bench.machine.settle(bench.answer('schedule', 429, '3600'));
    bench.now = START + HOUR - 1;
    assert.equal(bench.machine.release(), false);
    bench.now += 1;
    assert.equal(bench.machine.release(), true);
  });

  it('does not use the schedule up by manual attempts', () => {
    const bench = new Bench(() => 0, [HOUR, HOUR]);
    bench.machine.settle(bench.answer('schedule', 500));
    for (let i = 0; i < 5; i++) {
      assert.equal(bench.machine.refusal('retry'), undefined);
      bench.machine.act('retry', 'key_1');
      assert.equal(bench.machine.refusal('retry'), 'an attempt is in flight');
      assert.equal(bench.next(), 'manual');
      bench.machine.settle(bench.answer('manual', 500));
    }
    assert.equal(bench.next(), 'schedule');
    assert.equal(bench.now, START + HOUR);
  });

  it('expires when it has been parked too long', () => {
    const bench = new Bench();
    bench.machine.settle({ kind: 'not_attempted', endpoint: 'paused' });
    assert.equal(bench.next(), undefined);
    assert.equal(bench.machine.record.status, 'expired');
    assert.equal(bench.now, START + PARK_LIMIT);
  });

  it('expires as well when it was paused itself, and not while it is resumed in time', () => {
    const [paused, resumed] = [new Bench(), new Bench()];
    for (const { machine } of [paused, resumed]) {
      machine.settle({ kind: 'not_attempted', endpoint: 'paused' });
      machine.act('pause', 'key_1');
    }
    assert.equal(paused.next(), undefined);
    assert.deepEqual([paused.machine.record.status, paused.now], ['expired', START + PARK_LIMIT]);
    resumed.now += PARK_LIMIT - 1;
    resumed.machine.act('resume', 'key_1');
    assert.equal(resumed.next(), 'released');
  });

  it('waits for the whole limit again after an attempt, because an attempt is no wait', () => {
    const bench = new Bench();
    bench.machine.settle({ kind: 'not_attempted', endpoint: 'failing' });
    bench.now += PARK_LIMIT - HOUR;
    assert.equal(bench.machine.release(1), true);
    assert.equal(bench.next(), 'released');
    bench.machine.settle(bench.answer('released', 503));
    assert.equal(bench.next(), 'schedule');
    const parked = bench.now;
    bench.machine.settle({ kind: 'not_attempted', endpoint: 'failing' });
    assert.equal(bench.next(), undefined);
    assert.deepEqual([bench.machine.record.status, bench.now], ['expired', parked + PARK_LIMIT]);
  });

  it('tries a failing endpoint again at the given time, and expires in the end', () => {
    const bench = new Bench();
    let looks = 0;
    for (let trigger: Trigger | undefined = 'schedule'; trigger; trigger = bench.next()) {
      looks += 1;
      bench.machine.settle({ kind: 'not_attempted', endpoint: 'failing', look_again_ms: HOUR });
    }
    assert.equal(looks, 7 * 24);
    assert.equal(bench.machine.record.status, 'expired');
  });

  it('makes a deferred attempt for what it was asked for, in its turn', () => {
    const resent = { action: 'resend', at: new Date(START).toISOString(), by: 'key_1' } as const;
    for (const [bench, trigger] of [
      [new Bench(), 'schedule'],
      [new Bench(() => 0, [HOUR], resent), 'manual'],
    ] as const) {
      // By a clock that is an hour ahead.
      const turn = new Date(START + HOUR).toISOString();
      bench.machine.settle({ kind: 'deferred', turn, wait_ms: 300, per_second: 1 });
      assert.equal(bench.machine.record.status, 'delivering');
      assert.match(bench.machine.refusal('retry') ?? '', /turn/);
      assert.equal(bench.next(), trigger);
      assert.equal(bench.machine.attempting?.turn, turn);
    }
  });

  it('goes back to its plan after a pause, and looks at the endpoint again if it was parked', () => {
    const planned = new Bench(() => 0, [HOUR]);
    planned.machine.settle(planned.answer('schedule', 500));
    const parked = new Bench(() => 0, [HOUR]);
    parked.machine.settle({ kind: 'not_attempted', endpoint: 'paused' });
    for (const { machine } of [planned, parked]) {
      machine.act('pause', 'key_1');
      machine.endpointChanged();
      assert.equal(machine.step().kind, 'wait');
      machine.act('resume', 'key_1');
    }
    assert.equal(planned.next(), 'schedule');
    assert.equal(planned.now, START + HOUR);
    assert.equal(parked.next(), 'released');
    assert.equal(parked.now, START);
  });

  it('makes another attempt if the endpoint changed while one was in flight that found it parked', () => {
    const bench = new Bench();
    bench.machine.endpointChanged();
    bench.machine.settle({ kind: 'not_attempted', endpoint: 'disabled' });
    assert.deepEqual(bench.machine.step(), { kind: 'attempt', trigger: 'released' });
  });

  it('is attempted on a release, besides its plan, once, and not before its Retry-After', () => {
    const bench = new Bench(() => 0, [HOUR, HOUR]);
    bench.machine.settle(bench.answer('schedule', 500));
    bench.machine.endpointChanged();
    assert.equal(bench.machine.step().kind, 'wait', 'parked deliveries only');
    bench.machine.release();
    assert.deepEqual(bench.machine.step(), { kind: 'attempt', trigger: 'released' });
    bench.machine.settle(bench.answer('released', 500));
    bench.machine.release();
    assert.equal(bench.next(), 'schedule', 'not released again before its own attempt');
    assert.equal(bench.now, START + HOUR);

    const asked = new Bench(() => 0, [HOUR]);
    asked.machine.settle(asked.answer('schedule', 503, '60'));
    asked.machine.release();
    assert.equal(asked.machine.step().kind, 'wait');
    asked.now += 60_000;
    asked.machine.release();
    assert.deepEqual(asked.machine.step(), { kind: 'attempt', trigger: 'released' });
  });

  it('is attempted on up to as many releases in a row as are allowed', () => {
    const bench = new Bench(() => 0, [HOUR, HOUR]);
    bench.machine.settle(bench.answer('schedule', 500));
    for (const expected of [true, true, true, false]) {
      assert.equal(bench.machine.release(MOST_RELEASES_IN_A_ROW), expected);
      if (!expected) break;
      bench.machine.step();
      bench.machine.settle(bench.answer('released', 500));
    }
    assert.equal(bench.next(), 'schedule');
    bench.machine.settle(bench.answer('schedule', 500));
    assert.equal(bench.machine.release(MOST_RELEASES_IN_A_ROW), true);
  });

  it('remembers since when it is parked across attempts that were not made', () => {
    const bench = new Bench();
    bench.machine.settle({ kind: 'not_attempted', endpoint: 'disabled' });
    bench.now += HOUR;
    bench.machine.act('retry', 'key_1');
    assert.equal(bench.next(), 'manual');
    bench.machine.settle({ kind: 'not_attempted', endpoint: 'disabled' });
    assert.equal(bench.next(), undefined);
    assert.equal(bench.now, START + PARK_LIMIT);
  });

  it('takes every sequence of outcomes and acts to an end, with one attempt at a time', () => {
    for (let seed = 1; seed <= 2_000; seed++) {
      const trail = roam(seed);
      assert.ok(trail.ended, `seed ${seed} did not end: ${trail.steps} steps`);
    }
  });

  it('ends the same way when other executions continue it', () => {
    for (let seed = 1; seed <= 300; seed++)
      assert.deepEqual(roam(seed, true).record, roam(seed).record, `seed ${seed}`);
  });
});

/**
 * A random walk, the same for the same seed: any answer, any act at any time it is allowed, for as long as it lasts.
 *
 * @param handsOver whether another execution carries on after each step
 */
function roam(seed: number, handsOver = false): { ended: boolean; steps: number; record: DeliveryRecord } {
  const random = mulberry32(seed);
  const pick = <T>(of: readonly [T, ...T[]]): T => of[Math.floor(random() * of.length)] as T;
  const bench = new Bench(random);
  const stubborn = random() < 0.5; // half of the walks never succeed and never give up
  const fate = (trigger: Trigger): AttemptReport => {
    const endpoint = pick(['none', 'none', 'none', 'paused', 'disabled', 'failing', 'deleted'] as const);
    if (endpoint === 'deleted' && stubborn) return { kind: 'not_attempted', endpoint: 'disabled' };
    if (endpoint !== 'none') {
      const look_again_ms = Math.floor(random() * HOUR);
      return { kind: 'not_attempted', endpoint, ...(endpoint === 'failing' && { look_again_ms }) };
    }
    const status = pick([200, 301, 404, 410, 410, 429, 500, 503]);
    return bench.answer(trigger, stubborn && status === 200 ? 500 : status, pick([undefined, '0', '86400']));
  };

  const LIMIT = 50_000;
  let inFlight: Trigger | undefined = 'schedule';
  for (let steps = 0; steps < LIMIT; steps++) {
    if (handsOver) bench.handOver();
    const { machine } = bench;
    if (inFlight) {
      // What an operator tries while an attempt is in flight must be refused.
      for (const action of ['retry', 'cancel', 'pause'] as const) assert.ok(machine.refusal(action));
      if (random() < 0.2) machine.endpointChanged();
      machine.settle(fate(inFlight));
      inFlight = undefined;
      continue;
    }
    const action = pick(ACTIONS);
    if (random() < 0.4 && !(stubborn && action === 'cancel') && !machine.refusal(action)) {
      machine.act(action, 'key_1');
    }
    if (random() < 0.05) machine.endpointChanged();
    const step = machine.step();
    if (step.kind === 'closed') {
      assert.ok(isClosed(machine.record.status));
      assert.ok(machine.record.attempts.length <= MAX_ATTEMPTS);
      assert.ok((machine.record.interventions?.length ?? 0) <= MAX_INTERVENTIONS + 1);
      for (const each of ACTIONS) assert.ok(machine.refusal(each), `${each} of a closed delivery`);
      return { ended: true, steps, record: machine.record };
    }
    if (step.kind === 'attempt') inFlight = step.trigger;
    else bench.now += (step.until - bench.now) * (random() < 0.5 ? 1 : random());
  }
  return { ended: false, steps: LIMIT, record: bench.machine.record };
}

/** A small generator of numbers from 0 up to 1 that a seed determines. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
