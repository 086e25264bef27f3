import assert from 'node:assert/strict';
import type { Attempt } from '../../../src/domain/attempt/attempt.js';
import { newId } from '../../../src/domain/basics/ids.js';
import type { DeliveryRecord } from '../../../src/domain/delivery/delivery.js';
import type { TimelineItem } from '../../../src/domain/explain/timeline.js';
import { MAX_TIMELINE_BYTES } from '../../../src/domain/records/fitting.js';
import type { WholeDelivery } from '../../../src/domain/records/row/whole-delivery.js';
import {
  attemptsKnown,
  deliveryAfter,
  relationOf,
  relationOfLatest,
  rowOf,
  terminatedDelivery,
  untold,
} from '../../../src/domain/records/row.js';
import type { ToldRun } from '../../../src/domain/records/told.js';
import { viewAttempt } from '../../../src/domain/view/attempt-view.js';

const BEGAN = Date.parse('2026-03-01T12:00:00.000Z');
const at = (seconds: number) => new Date(BEGAN + seconds * 1_000).toISOString();

const EVENT = {
  account_id: 'acct_1',
  event_id: newId('event', BEGAN),
  event_kind: 'purchase',
  keys: ['k:1'],
  sequence: 7,
  payload_sha256: 'ab',
  payload_bytes: 144,
};
const KEY = { event_id: EVENT.event_id, endpoint_id: newId('endpoint') };
const RUN: ToldRun = { workflow_id: 'delivery:1', run_id: 'run-1', started_at: at(0), is_first: true };
const RESENT: ToldRun = { ...RUN, run_id: 'run-2', started_at: at(100) };

const attempt = (number: number, seconds: number, status_code = 500): Attempt => ({
  ...{ number, at: at(seconds), duration_ms: 20, status_code, trigger: 'schedule' },
  url: 'https://example.com/hook',
});
const failed = (...attempts: Attempt[]): DeliveryRecord => {
  const { number = 0, status_code = 0 } = attempts.at(-1) ?? {};
  return {
    ...{ status: 'retrying', attempts, next_attempt_at: at(3_600) },
    cause: { code: 'attempt', number, status_code },
  };
};
const delivered = (...attempts: Attempt[]): DeliveryRecord => ({ status: 'delivered', attempts });

/** A delivery after its execution has told a record of it. */
function tell(
  before: WholeDelivery | undefined,
  record: DeliveryRecord,
  {
    run = RUN,
    seconds = 1,
    isLater = false,
    said = [],
  }: { run?: ToldRun; seconds?: number; isLater?: boolean; said?: TimelineItem[] } = {},
): WholeDelivery {
  const snapshot = { record, state: { kind: 'closed' as const }, failed: 0 };
  const told = { ...EVENT, ...KEY, snapshot, max_attempts: 3, said };
  const attempts = record.attempts.map(viewAttempt);
  return deliveryAfter(before, EVENT, run, told, { attempts, at: at(seconds), isLater });
}

const told = ({ timeline }: WholeDelivery) =>
  timeline.map(({ at, type, number }) => [at, type, number ?? '']);

describe('what a run that tells of a delivery is to its row', () => {
  const before = { workflow_id: RUN.workflow_id, run_id: 'run-1', turn: 3 };
  const ofGroup = { ...before, workflow_id: 'group:grp_1' };
  const cases: [string, ReturnType<typeof relationOf>, Partial<ToldRun>, number][] = [
    ['goes on, of what it has told later', 'goes_on', {}, 4],
    ['is stale, of what it has told already', 'stale', {}, 3],
    ['is unclear, of another one, whatever times they say', 'unclear', { ...RESENT, started_at: at(-9) }, 9],
    [
      'goes on, of an execution that carries on in it',
      'goes_on',
      { run_id: 'run-1b', continued: 'run-1' },
      1,
    ],
    ['is stale, of a group that it has left', 'stale', { run_id: 'run-0', workflow_id: 'group:grp_1' }, 9],
  ];
  for (const [what, relation, run, turn] of cases)
    it(what, () => assert.equal(relationOf(before, { ...RUN, ...run }, turn), relation));

  it('is a later one, if the delivery leaves its group to be sent again, and goes on in the place of a lost one', () => {
    assert.equal(relationOf(ofGroup, RESENT, 1), 'later');
    assert.equal(relationOf(ofGroup, { ...RESENT, continues: true }, 1), 'goes_on');
    assert.equal(relationOf(ofGroup, { ...RESENT, workflow_id: 'group:grp_1' }, 1), 'unclear');
  });

  it('is a later one as the latest that was started, and goes on as one that was reset or takes the place of another', () => {
    const { is_first: _, ...reset } = RESENT;
    assert.equal(relationOfLatest(RESENT), 'later');
    assert.equal(relationOfLatest(reset), 'goes_on');
    assert.equal(relationOfLatest({ ...RESENT, continues: true }), 'goes_on');
  });
});

describe('a delivery after what its execution tells', () => {
  const open = tell(undefined, failed(attempt(1, 0)));

  it('tells once what is said with an attempt, before it, by whatever clock', () => {
    const said: TimelineItem[] = [{ at: at(11), type: 'released', text: 'Released.' }];
    const shown = tell(open, failed(attempt(1, 0)), { seconds: 11, said });
    assert.deepEqual(told(shown).at(-1), [at(11), 'released', '']);
    const end = delivered(attempt(1, 0), attempt(2, 10, 200));
    for (const before of [open, shown]) {
      const closed = tell(before, end, { seconds: 12, said });
      for (const one of [closed, tell(closed, end, { seconds: 13, said })])
        assert.deepEqual(told(one).slice(3), [
          [at(1), 'wait', ''],
          [at(10), 'released', ''],
          [at(10), 'attempt', 2],
          [at(10.02), 'closed', ''],
        ]);
    }
  });

  it('begins with its event, and tells each attempt once', () => {
    const closed = tell(open, delivered(attempt(1, 0), attempt(2, 10, 200)), { seconds: 10.02 });
    const { delivery } = closed;
    assert.deepEqual(
      [open.delivery.status, open.delivery.reason, open.delivery.next_attempt_at, open.delivery.closed_at],
      ['retrying', `Attempt 1 got a 500 response. Next attempt at ${at(3_600)}.`, at(3_600), undefined],
    );
    assert.deepEqual(
      [delivery.status, delivery.next_attempt_at, delivery.closed_at, delivery.sequence],
      ['delivered', undefined, at(10.02), 7],
    );
    assert.deepEqual(told(closed), [
      [at(0), 'accepted', ''],
      [at(0), 'started', ''],
      [at(0), 'attempt', 1],
      [at(1), 'wait', ''],
      [at(10), 'attempt', 2],
      [at(10.02), 'closed', ''],
    ]);
    // The same again says nothing more.
    assert.deepEqual(tell(closed, delivered(attempt(1, 0), attempt(2, 10, 200)), { seconds: 11 }), closed);
  });

  it('has its earlier runs, if it was sent again, each with all that happened in it', () => {
    const first = tell(undefined, delivered(attempt(1, 0, 200)));
    const again: DeliveryRecord = {
      ...delivered(attempt(1, 101, 204)),
      interventions: [{ action: 'resend', at: at(100), by: 'ada' }],
    };
    const second = tell(first, again, { run: RESENT, seconds: 102, isLater: true });
    const { earlier_runs, attempts, run_id, created_at, started_at } = second.delivery;
    assert.deepEqual([run_id, created_at, started_at, attempts.length], ['run-2', at(0), at(100), 1]);
    assert.deepEqual(
      earlier_runs?.map((run) => [run.run_id, run.status, run.attempts[0]?.status_code]),
      [['run-1', 'delivered', 200]],
    );
    assert.deepEqual(second.timeline.slice(0, first.timeline.length), first.timeline);
    assert.deepEqual(
      second.timeline.slice(first.timeline.length).map(({ text }) => text.replace(/ after \d+ ms/, '')),
      ['Started again.', 'Sent again by ada.', 'Attempt 1 got a 204 response,.', 'Delivered.'],
    );
    // It stays so when the run goes on.
    assert.deepEqual(tell(second, again, { run: RESENT }).delivery.earlier_runs, earlier_runs);
  });

  it('has at most 10 earlier runs, the newest of them', () => {
    let whole = tell(undefined, delivered(attempt(1, 0, 200)));
    for (let number = 2; number <= 13; number += 1) {
      const run = { ...RUN, run_id: `run-${number}`, started_at: at(number) };
      whole = tell(whole, delivered(attempt(1, number, 200)), { run, seconds: number, isLater: true });
    }
    const ids = whole.delivery.earlier_runs?.map(({ run_id }) => run_id) ?? [];
    assert.deepEqual([ids.length, ids[0], ids.at(-1)], [10, 'run-12', 'run-3']);
  });

  it('says where it carried on in a new run', () => {
    const run = { ...RUN, run_id: 'run-1b', continues: true as const, continued: 'run-1' };
    const next = tell(open, failed(attempt(1, 0), attempt(2, 10)), { run, seconds: 11 });
    assert.deepEqual(next.delivery.earlier_runs, undefined);
    assert.match(next.timeline.at(-3)?.text ?? '', /carried on in a new run/);
    assert.deepEqual(told(next).slice(-3), [
      [at(10), 'started', ''],
      [at(10), 'attempt', 2],
      [at(11), 'wait', ''],
    ]);
  });

  it('tells what came before a reset, and what was made after it in its place', () => {
    const before = tell(open, failed(attempt(1, 0), attempt(2, 10)), { seconds: 11 });
    const run = { ...RUN, run_id: 'run-1b' };
    const reset = tell(before, delivered(attempt(1, 0), attempt(2, 20, 200)), { run, seconds: 20.02 });
    assert.deepEqual(
      reset.delivery.attempts.map(({ at }) => at),
      [at(0), at(20)],
    );
    assert.deepEqual(told(reset).slice(-5), [
      [at(10), 'attempt', 2],
      [at(11), 'wait', ''],
      [at(20), 'reset', ''],
      [at(20), 'attempt', 2],
      [at(20.02), 'closed', ''],
    ]);
  });

  it('takes attempts from its row, which has them whole, and has those opened alone that are sealed', () => {
    const whole = viewAttempt({ ...attempt(1, 0), response_snippet: 'no' });
    const before = { ...open, delivery: { ...open.delivery, attempts: [whole] } };
    const short = { ...attempt(1, 0), shortened: true as const };
    const sealed = { ...attempt(2, 10), sealed: 'k1.x.y' };
    assert.deepEqual(attemptsKnown(before, failed(short, sealed)), [whole, undefined]);
    // Made in the place of the one that the row has, as after a reset.
    assert.deepEqual(attemptsKnown(before, failed(attempt(1, 5))), [viewAttempt(attempt(1, 5))]);
  });
});

describe('a delivery whose execution was terminated in Temporal', () => {
  const intervention = { action: 'terminate', at: at(50), by: 'ada' } as const;
  const reason = 'Terminated in Temporal by ada: no longer wanted.';

  for (const [what, before] of Object.entries({
    'that has told of it': tell(undefined, failed(attempt(1, 0))),
    'before it told anything': untold(EVENT, RUN, KEY),
  }))
    it(`is closed with who did it and why, if it was one ${what}`, () => {
      const { delivery, timeline } = terminatedDelivery(before, { reason, intervention });
      assert.deepEqual(
        [delivery.status, delivery.reason, delivery.closed_at, delivery.next_attempt_at],
        ['terminated', reason, at(50), undefined],
      );
      assert.deepEqual(delivery.interventions, [intervention]);
      assert.deepEqual(delivery.attempts, before.delivery.attempts);
      assert.deepEqual(timeline.slice(0, -1), before.timeline);
      const last = { at: at(50), type: 'terminated', text: reason, status: 'terminated', by: 'ada' };
      assert.deepEqual(timeline.at(-1), last);
    });
});

describe('a row', () => {
  it('has beside its texts what lists go by, of all runs', () => {
    const first = tell(undefined, delivered(attempt(1, 0, 200)));
    const again = failed(attempt(1, 101), { ...attempt(2, 102, 503), duration_ms: 4_000 });
    const second = tell(first, again, { run: RESENT, seconds: 106, isLater: true });
    const { summary, detail, timeline, ...columns } = rowOf(EVENT, second);
    assert.deepEqual(columns, {
      ...{ id: second.delivery.id, account_id: 'acct_1', ...KEY, event_kind: 'purchase', keys: ['k:1'] },
      ...{ accepted_at: new Date(BEGAN), status: 'retrying', run_id: 'run-2' },
      ...{ error_code: undefined, status_code: 503, results: ['200', '500', '503'], longest_ms: 4_000 },
      position: `~${at(0)} ${second.delivery.id}`,
    });
    const { last_attempt, max_attempts, ...shown } = JSON.parse(summary);
    assert.deepEqual([last_attempt.number, last_attempt.status_code, max_attempts], [2, 503, 3]);
    assert.deepEqual(
      { ...shown, ...JSON.parse(detail ?? ''), progress: undefined },
      { ...JSON.parse(JSON.stringify(second.delivery)), progress: undefined },
    );
    assert.deepEqual(JSON.parse(timeline ?? ''), second.timeline);
  });

  it('keeps the newest of what a delivery that was sent again and again has to tell', () => {
    const first = tell(undefined, delivered(attempt(1, 0, 200)));
    const text = 'x'.repeat(1_000);
    const waits = Array.from({ length: 8_000 }, (_, number) => ({
      ...{ at: at(number / 1_000), type: 'wait' as const, text },
    }));
    const before = { ...first, timeline: [...waits, ...first.timeline] };
    const again = tell(before, delivered(attempt(1, 101, 200)), { run: RESENT, isLater: true });
    const { timeline = '' } = rowOf(EVENT, again);
    assert.ok(Buffer.byteLength(timeline) <= MAX_TIMELINE_BYTES + 2);
    const items: TimelineItem[] = JSON.parse(timeline);
    assert.deepEqual([items[0]?.type, items.at(-1)?.type], ['wait', 'closed']);
    // The next one is told behind those that are left.
    const third = tell({ ...again, timeline: items }, delivered(attempt(1, 201, 200)), {
      ...{ run: { ...RUN, run_id: 'run-3', started_at: at(200) }, seconds: 202, isLater: true },
    });
    assert.deepEqual(third.timeline.slice(0, items.length), items);
  });
});
