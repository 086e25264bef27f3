import assert from 'node:assert/strict';
import { type MemberAttempt, withLost } from '../../../src/domain/delivery/attempt-order.js';
import type { DeliveryRecord } from '../../../src/domain/delivery/delivery.js';
import {
  batches,
  GroupMachine,
  type LiveGroup,
  waitFromStart,
} from '../../../src/domain/delivery/delivery-group.js';
import {
  MAX_SUMMARY_CHARACTERS,
  statusesOf,
  summarizeMembers,
} from '../../../src/domain/delivery/group-summary.js';
import { groupJitter } from '../../../src/domain/endpoint/retry-schedule.js';
import { groupStatus } from '../../../src/domain/ledger/search-attributes.js';
import { answered } from '../../support/parts/answered.js';

const START = Date.parse('2026-03-01T12:00:00Z');
const HOUR = 3_600_000;

function group(members: number, endpoints = 1, more: Partial<LiveGroup> = {}): LiveGroup {
  const events = Array.from({ length: members }, (_, index) => ({
    account_id: 'acct_1',
    event_id: `evt_${index}`,
    event_kind: 'purchase',
    payload: '{}',
    accepted_at: new Date(START).toISOString(),
  }));
  const deliveries = events.map((_, event) => ({ event, endpoint_id: `ep_${event % endpoints}` }));
  return {
    events,
    deliveries,
    schedule: [HOUR, HOUR],
    attempt_timeout_ms: 5_000,
    park_limit_ms: 24 * HOUR,
    ...more,
  };
}

const held = {
  kind: 'not_attempted',
  endpoint: 'failing',
  since: 'noon',
  look_again_ms: HOUR,
} as const;

describe('a group of deliveries that is open', () => {
  it('has its members due together again that failed together', () => {
    const machine = new GroupMachine(group(5), START);
    const first = machine.firstAttempts;
    assert.equal(first.length, 5);
    machine.settle(
      first,
      first.map((one, index) => answered(503, one, START + index * 10, index)),
      START,
    );
    const { due, wakeAt } = machine.step(START + 100);
    assert.deepEqual(due, []);
    assert.equal(machine.step((wakeAt ?? 0) - 1).due.length, 0);
    assert.equal(machine.step(wakeAt ?? 0).due.length, 5);
    // Not before the wait has passed since the last of them ended.
    assert.ok((wakeAt ?? 0) >= START + 44 + HOUR);
  });

  it('names attempts that could not be made, and counts them as in flight', () => {
    const machine = new GroupMachine(group(3), START);
    const first = machine.firstAttempts;
    const [, second] = first;
    assert.ok(second);
    const unmade = machine.settle(first, [answered(200, second, START), null, undefined], START);
    assert.deepEqual(
      unmade.map(({ index }) => index),
      [1, 2],
    );
    assert.deepEqual(machine.step(START).due, []);
    assert.ok(machine.isOpen);
  });

  it('says of an attempt that it may have been sent before, however long it has waited and in whatever run', () => {
    const before = new GroupMachine(group(1), START);
    const lost = before.firstAttempts.map((one) => withLost(one, 1));
    before.settle(lost, [held], START);
    const machine = new GroupMachine(group(1, 1, { so_far: before.snapshots }), START);
    const attempt = { index: 0, number: 1, trigger: 'schedule' as const };
    const again = machine.step(START + HOUR).due;
    assert.deepEqual(again, [{ ...attempt, lost_tries: 1 }]);
    const [once] = again;
    assert.ok(once);
    machine.settle(again, [answered(503, once, START + HOUR)], START + HOUR);
    assert.deepEqual(machine.step(START + 3 * HOUR).due, [{ ...attempt, number: 2 }]);
  });

  it('parks members for an endpoint that was known to be failing, and releases them in order, up to a limit', () => {
    const machine = new GroupMachine(group(6, 2, { held: { ep_1: held } }), START);
    assert.deepEqual(
      machine.firstAttempts.map(({ index }) => index),
      [0, 2, 4],
    );
    machine.release({ endpoint_id: 'ep_0', limit: 1 }, START);
    machine.release({ endpoint_id: 'ep_1', limit: 2 }, START);
    assert.deepEqual(
      machine.step(START).due.map(({ index, trigger }) => [index, trigger]),
      [
        [1, 'released'],
        [3, 'released'],
      ],
    );
    machine.release({ endpoint_id: 'ep_1' }, START);
    assert.deepEqual(
      machine.step(START).due.map(({ index }) => index),
      [5],
    );
  });

  it('probes an endpoint with one member, which waits on if that fails', () => {
    const machine = new GroupMachine(group(4, 2, { held: { ep_1: held } }), START);
    machine.settle(machine.firstAttempts, [null, null], START);
    machine.release({ endpoint_id: 'ep_1', limit: 1, most: 3, probe: true }, START);
    const { due } = machine.step(START);
    assert.deepEqual(
      due.map(({ index, trigger }) => [index, trigger]),
      [[1, 'probe']],
    );
    machine.settle(
      due,
      due.map((attempt) => answered(503, attempt, START)),
      START,
    );
    assert.equal(machine.records[1]?.status, 'parked');
    assert.deepEqual(machine.records[1]?.attempts.length, 1);
    machine.release({ endpoint_id: 'ep_1', limit: 2, most: 3 }, START);
    assert.deepEqual(
      machine.step(START).due.map(({ index, trigger }) => [index, trigger]),
      [
        [1, 'released'],
        [3, 'released'],
      ],
    );
  });

  it('waits from its start if all of its deliveries do, until the first of them looks again', () => {
    const later = { ...held, look_again_ms: 2 * HOUR };
    const waiting = waitFromStart(group(4, 2, { held: { ep_0: later, ep_1: held } }), START);
    assert.equal(waiting?.waitMs, HOUR);
    assert.deepEqual(
      waiting.states.map(({ status, members }) => [status, members]),
      [['parked', [0, 1, 2, 3]]],
    );
    assert.equal(waitFromStart(group(4, 2, { held: { ep_1: held } }), START), undefined, 'some do not wait');
    assert.equal(waitFromStart(group(4), START), undefined);
  });

  it('releases what waits for a retry after what is parked, but not before the time that its endpoint asked for', () => {
    const machine = new GroupMachine(group(3), START);
    const [a, b, c] = machine.firstAttempts as [MemberAttempt, MemberAttempt, MemberAttempt];
    const asked = { ...answered(503, b, START), retry_after_ms: 5 * HOUR };
    machine.settle([a, b, c], [answered(503, a, START), asked, held], START);
    machine.release({ endpoint_id: 'ep_0', limit: 1 }, START);
    assert.deepEqual(
      machine.step(START).due.map(({ index }) => index),
      [2],
    );
    machine.release({ endpoint_id: 'ep_0' }, START);
    assert.deepEqual(
      machine.step(START).due.map(({ index }) => index),
      [0],
    );
    assert.equal(machine.step(START).wakeAt, START + 5 * HOUR);
  });

  it('makes deferred attempts together whose turns come one after another', () => {
    const machine = new GroupMachine(group(4), START);
    const first = machine.firstAttempts;
    const waits = first.map((_, index) => 1_000 + index * 200);
    // By a clock that is an hour ahead of the workflow's.
    const turns = waits.map((wait) => new Date(START + HOUR + wait).toISOString());
    machine.settle(
      first,
      waits.map((wait_ms, index) => ({ kind: 'deferred', turn: turns[index] ?? '', wait_ms, per_second: 1 })),
      START,
    );
    const { wakeAt = 0 } = machine.step(START);
    const { due } = machine.step(wakeAt);
    assert.deepEqual(
      due.map(({ turn }) => turn),
      turns.slice(0, 3),
    );
  });

  it('holds deliveries of slow endpoints apart from the others', () => {
    const input = group(6, 3);
    const machine = new GroupMachine(input, START);
    const first = machine.firstAttempts;
    machine.settle(
      first,
      first.map((one) => answered(503, one, START, one.index % 3 === 0 ? 5_000 : 10)),
      START,
    );
    const { due } = machine.step(START + 2 * HOUR);
    const parts = batches(machine, input, due).map((batch) => batch.map(({ index }) => index));
    assert.deepEqual(
      parts.sort(),
      [
        [0, 3],
        [1, 2, 4, 5],
      ].sort(),
    );
  });

  it('has the same state after the same reports, in another run too', () => {
    const input = group(12, 4, { schedule: [1_000, 1_000, 1_000] });
    for (let seed = 1; seed <= 50; seed++) {
      const random = (salt: number) => groupJitter(`${seed}`, salt);
      let live = new GroupMachine(input, START);
      const reader = new GroupMachine(input, START);
      let now = START;
      let attempts = live.firstAttempts;
      for (let round = 0; round < 40 && live.isOpen; round++) {
        const reports = attempts.map((one) => {
          const chance = random(round * 100 + one.index);
          if (chance < 0.1) return null;
          if (chance < 0.3) return held;
          if (chance < 0.4)
            return {
              kind: 'deferred',
              turn: new Date(now + chance * 1e4).toISOString(),
              wait_ms: chance * 1e4,
              per_second: 1,
            } as const;
          return answered(chance < 0.6 ? 200 : 503, one, now, Math.floor(chance * 50));
        });
        const unmade = live.settle(attempts, reports, now);
        reader.begin(attempts);
        reader.settle(attempts, reports, now);
        assert.deepEqual(live.records, reader.records, `seed ${seed}, round ${round}`);
        if (random(round) < 0.2 && unmade.length === 0) {
          const so_far = JSON.parse(JSON.stringify(live.snapshots));
          live = new GroupMachine({ ...input, so_far }, now);
        }
        if (random(-round) < 0.3)
          live.release({ endpoint_id: `ep_${round % 4}`, ...(round % 3 === 0 && { limit: 2 }) }, now);
        const { due, wakeAt } = live.step(now);
        attempts = [...unmade, ...due];
        if (attempts.length === 0) now = wakeAt ?? now;
      }
    }
  });
});

describe('the jitter of a group', () => {
  it('is spread over its range, also for groups and attempts that follow each other', () => {
    const values = Array.from({ length: 1_000 }, (_, index) =>
      groupJitter(`evt_${index}:ep_1`, 1 + (index % 9)),
    );
    const buckets = Array.from(
      { length: 10 },
      (_, bucket) => values.filter((value) => Math.floor(value * 10) === bucket).length,
    );
    for (const count of buckets) assert.ok(count > 60 && count < 140, `${buckets}`);
  });
});

describe('the summary of a group', () => {
  const retrying = (by: string): DeliveryRecord => ({
    status: 'retrying',
    attempts: [],
    next_attempt_at: new Date(START + HOUR).toISOString(),
    cause: { code: 'resumed', by },
  });

  it('leaves out what the execution’s own status says', () => {
    const delivering: DeliveryRecord = { status: 'delivering', attempts: [] };
    const delivered: DeliveryRecord = { status: 'delivered', attempts: [] };
    assert.deepEqual(summarizeMembers([delivering, delivering], true), []);
    assert.deepEqual(summarizeMembers([delivered, delivered], false), []);
    assert.deepEqual(summarizeMembers([delivered, delivering], true), [
      { status: 'delivered', members: [0] },
    ]);
  });

  it('lists deliveries in the same state once', () => {
    const { attempts: _, ...a } = retrying('a');
    const { attempts: __, ...b } = retrying('b');
    assert.deepEqual(summarizeMembers([retrying('a'), retrying('b'), retrying('a')], true), [
      { ...a, members: [0, 2] },
      { ...b, members: [1] },
    ]);
  });

  it('stays short, however different they are', () => {
    const reasons = Array.from({ length: 60 }, (_, index) => retrying(`${index} ${'x'.repeat(200)}`));
    const summary = summarizeMembers(reasons, true);
    assert.ok(JSON.stringify(summary).length <= MAX_SUMMARY_CHARACTERS);
    assert.deepEqual(
      summary.map(({ status, members }) => [status, members.length]),
      [['retrying', 60]],
    );
    assert.equal(summary[0]?.next_attempt_at, new Date(START + HOUR).toISOString());
  });

  it('gives a search attribute', () => {
    const summary = summarizeMembers([retrying('a'), { status: 'parked', attempts: [] }], true);
    assert.equal(groupStatus(statusesOf(summary)), 'group:retrying+parked');
  });
});
