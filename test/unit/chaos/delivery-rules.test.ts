import assert from 'node:assert/strict';
import { checkAll, countAll } from '../../../bench/chaos/check/check.js';
import type { AttemptFacts, FullRow } from '../../../bench/chaos/check/collected.js';
import { withCalm } from '../../../bench/chaos/check/finding.js';
import {
  ACCOUNT,
  attempt,
  BEGAN,
  brokenBy,
  DELIVERY,
  delivery,
  everywhere,
  iso,
  only,
  type Run,
  request,
  ULID,
  wellRun,
} from '../../support/parts/chaos-run.js';

const REFUSED = attempt(1, 0, { status_code: 503 });

/** The delivery was never delivered, and is what is said everywhere. */
const isInstead = (status: string) => (run: Run) => {
  run.received.pop();
  everywhere(run, status, [REFUSED]);
};
const inRecords = (run: Run, change: (record: FullRow) => void) => {
  for (const record of [delivery(run).single, delivery(run).exported]) change(record);
};
const firstAttempt = (run: Run, is: AttemptFacts) =>
  inRecords(run, (record) => {
    record.attempts[0] = is;
  });
const secondAt = (run: Run, afterMs: number, trigger = 'schedule') => {
  inRecords(run, (record) => {
    record.attempts[1] = attempt(2, afterMs, { trigger });
  });
  run.received[1] = request(2, afterMs);
};
/** A probe fails besides, and then the delivery is attempted as the schedule holds. */
const probed = (run: Run, probeMs: number, nextMs: number) => {
  everywhere(run, 'delivered', [
    REFUSED,
    attempt(2, probeMs, { trigger: 'probe', status_code: 503 }),
    attempt(3, nextMs),
  ]);
  run.received = [
    request(1, 0, { answered: 503 }),
    request(2, probeMs, { answered: 503 }),
    request(3, nextMs),
  ];
};
const startTwice = (run: Run) =>
  void delivery(run).executions.push({ workflowId: 'group:grp_2', runId: 'other', isOpen: false });
const postOneMore = (run: Run, more: object = {}) =>
  void run.posted.push({
    ...only(run.posted),
    ...{ orderId: 'order-2', eventIds: [], answers: [503, 0] },
    ...more,
  });
const again = (run: Run) => void run.received.push(request(2, 5_000));

/** Faults of a run, and the rules that it breaks. */
const CASES: [string, string[], (run: Run) => void][] = [
  [
    'an accepted event that no view has',
    ['lost'],
    (run) => {
      run.deliveries = [];
      run.events = [];
      run.received = [];
    },
  ],
  [
    'one of its deliveries that no view has',
    ['lost'],
    (run) => void only(run.posted).deliveryIds?.push(`dlv_${ULID}_01M8CZGMN3E3Y439HBQBDYBVBK`),
  ],
  [
    'a delivery of an event whose answer only counted them',
    ['lost'],
    (run) => {
      delete (only(run.posted) as { deliveryIds?: string[] }).deliveryIds;
      const endpoint = { id: 'ep_01M8CZGMN3E3Y439HBQBDYBVBK', accountId: ACCOUNT, path: '/', schedule: [] };
      run.endpoints.push(endpoint);
    },
  ],
  [
    'a delivery that is shown as delivered and never was',
    ['invented', 'lost'],
    (run) => void run.received.pop(),
  ],
  ['a delivery that was given up before its schedule was used up', ['lost'], isInstead('exhausted')],
  ['a delivery that was cancelled although nobody asked for it', ['lost'], isInstead('cancelled')],
  [
    'a delivery that somebody may have cancelled',
    [],
    (run) => {
      isInstead('cancelled')(run);
      run.acts.push({ name: 'cancel', atMs: BEGAN, status: 0, accountId: ACCOUNT, resource: DELIVERY });
    },
  ],
  ['a delivery that is open', ['stuck'], isInstead('parked')],
  [
    'a count of open deliveries',
    ['stuck'],
    (run) => {
      run.openInStats[ACCOUNT] = 1;
    },
  ],
  ['an event that was never accepted, though it was sent again and again', ['stuck'], postOneMore],
  [
    'an event whose account was deleted before it was sent again',
    [],
    (run) => postOneMore(run, { isGivenUp: true }),
  ],
  ['what did not come to rest', ['stuck'], (run) => void run.unsettled.push('replays and erasures: 1')],
  [
    'a repeat that got another event',
    ['twice'],
    (run) => {
      const [first] = run.events;
      assert.ok(first);
      const single = { ...first.single, deliveries: [] };
      run.events.push({ ...first, id: 'evt_01M8CZH5F9ZWSZFDHDVS11BYXR', single });
    },
  ],
  ['a delivery that two executions stand for', ['twice'], startTwice],
  [
    'a delivery that was sent again, in another execution',
    [],
    (run) => {
      startTwice(run);
      inRecords(run, (record) => {
        record.interventions = [{ action: 'resend', at: iso(BEGAN), by: 'key_1' }];
      });
    },
  ],
  ['an attempt before the schedule allowed it', ['early'], (run) => secondAt(run, 900)],
  ['an attempt before that, made on request', [], (run) => secondAt(run, 900, 'manual')],
  ['an attempt before that, released', [], (run) => secondAt(run, 900, 'released')],
  [
    'an attempt before its Retry-After allowed it, also a released one',
    ['early'],
    (run) => {
      secondAt(run, 2_000, 'released');
      only(run.received).notBeforeMs = BEGAN + 3_000;
    },
  ],
  [
    'a probe before the time of the schedule, and the attempt at its time, which a failed probe leaves as it is',
    [],
    (run) => probed(run, 500, 1_015),
  ],
  ['an attempt before its time, after a probe that failed', ['early'], (run) => probed(run, 500, 900)],
  [
    'a request that no record has, and that came after a success, without a fault',
    ['repeated', 'unrecorded'],
    again,
  ],
  [
    'a request after an answer that came too late',
    [],
    (run) => {
      only(run.received).answered = 200;
      firstAttempt(run, { ...attempt(1, 0), status_code: undefined, error_code: 'timeout' });
    },
  ],
  [
    'an event that nobody posted',
    ['invented'],
    (run) => {
      run.posted = [];
    },
  ],
  [
    'an attempt that no receiver saw',
    ['invented'],
    (run) => {
      only(run.received).answered = 500;
    },
  ],
];

describe('the rules of the chaos checker about deliveries', () => {
  it('let a run pass in which everything is well', () => {
    assert.deepEqual(checkAll(wellRun()), []);
    const counts = countAll(wellRun());
    assert.deepEqual([counts.accepted, counts.deliveries, counts.requests, counts.repeated], [1, 1, 2, 0]);
  });

  for (const [what, rules, change] of CASES)
    it(`${rules.join(' and ') || 'well'}: ${what}`, () => assert.deepEqual(brokenBy(change), rules));

  it('count a request of a try that its attempt says was lost as told', () => {
    const run = wellRun();
    run.received.push(request(1, 400, { answered: 503 }));
    firstAttempt(run, { ...REFUSED, lost_tries: 1 });
    assert.deepEqual(checkAll(run), []);
    const { told, unrecorded } = countAll(run);
    assert.deepEqual([told, unrecorded], [1, 0]);
  });

  it('only count a request that is repeated near a fault', () => {
    const run = wellRun();
    again(run);
    run.disruptions.push({ name: 'node-killed', fromMs: BEGAN + 900, toMs: BEGAN + 3_000 });
    assert.deepEqual(checkAll(run), []);
    const { repeated, unrecorded } = countAll(run);
    assert.deepEqual([repeated, unrecorded], [1, 1]);
  });

  it('take a fault for near until half a minute after its backlog is accepted', () => {
    for (const [lateMs, broken] of [
      [0, 2],
      [20_000, 0],
    ] as const) {
      const run = wellRun();
      again(run);
      const fault = { name: 'node-killed', fromMs: BEGAN - 60_000, toMs: BEGAN - 33_000 };
      const backlog = {
        ...(run.posted[0] ?? assert.fail()),
        postedMs: fault.toMs,
        acknowledgedMs: fault.toMs + lateMs,
      };
      run.disruptions = withCalm({ disruptions: [fault], posted: [backlog] });
      assert.equal(checkAll(run).length, broken);
    }
  });
});
