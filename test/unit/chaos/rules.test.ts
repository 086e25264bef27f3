import assert from 'node:assert/strict';
import { checkAll, countAll } from '../../../bench/chaos/check/check.js';
import type {
  AttemptFacts,
  Collected,
  DeliveryViews,
  FullRow,
  Received,
} from '../../../bench/chaos/check/collected.js';
import { RULES } from '../../../bench/chaos/check/finding.js';
import { reportOn, tellReport } from '../../../bench/chaos/report.js';

const ULID = '01M8CZH08CKZ6F5XFND9KG53G5';
const ACCOUNT = 'acct_01M8CZGMBAY082PEVBNGFZ8XZV';
const EVENT = `evt_${ULID}`;
const ENDPOINT = 'ep_01M8CZGMJGC53J7T0RJZ96K0GY';
const DELIVERY = `dlv_${ULID}_01M8CZGMJGC53J7T0RJZ96K0GY`;
const RUN = '01a219f8-832f-70e5-9374-439b7fb9e6e4';
const BEGAN = Date.parse('2026-11-26T22:00:00.000Z');
const iso = (ms: number) => new Date(ms).toISOString();

function attempt(number: number, afterMs: number, more: Partial<AttemptFacts> = {}): AttemptFacts {
  return {
    number,
    at: iso(BEGAN + afterMs),
    duration_ms: 10,
    trigger: 'schedule',
    webhook_timestamp: Math.floor((BEGAN + afterMs) / 1_000),
    status_code: 200,
    ...more,
  };
}

function request(number: number, afterMs: number, more: Partial<Received> = {}): Received {
  return {
    path: '/shop-0',
    eventId: EVENT,
    attempt: number,
    timestamp: Math.floor((BEGAN + afterMs) / 1_000),
    atMs: BEGAN + afterMs,
    sha256: 'abc',
    isSigned: true,
    answered: 200,
    ...more,
  };
}

/** An event with one delivery, which is well: refused once, and delivered after the first wait. A rule is broken by changing something. */
function wellRun() {
  const row = {
    id: DELIVERY,
    event_id: EVENT,
    endpoint_id: ENDPOINT,
    status: 'delivered',
    created_at: iso(BEGAN),
    started_at: iso(BEGAN),
    closed_at: iso(BEGAN + 1_020),
    reason: 'The endpoint answered 2xx.',
    workflow_id: 'group:grp_1',
    run_id: RUN,
  };
  const record = (): FullRow => ({
    ...row,
    attempts: [attempt(1, 0, { status_code: 503 }), attempt(2, 1_010)],
  });
  const delivery = {
    id: DELIVERY,
    accountId: ACCOUNT,
    eventId: EVENT,
    endpointId: ENDPOINT,
    isRead: true,
    listed: { ...row },
    ofEvent: { ...row },
    single: record(),
    exported: record(),
    timeline: { status: 'delivered', attempts: 2 },
    explained: { code: 'delivered', status: 'delivered', attempts: 2 },
    certified: { status: 'delivered', attempts: 2 },
    executions: [{ workflowId: 'group:grp_1', runId: RUN, status: 'delivered' }],
  } satisfies DeliveryViews;
  const event = {
    id: EVENT,
    accountId: ACCOUNT,
    isListed: true,
    single: { status: 200, orderId: 'order-1', isErased: false, deliveries: [DELIVERY] },
    exported: { orderId: 'order-1', isErased: false },
  };
  return {
    posted: [
      {
        accountId: ACCOUNT,
        orderId: 'order-1',
        sha256: 'abc',
        subject: 'ada@example.com',
        key: 'key-1',
        answers: [503, 202],
        eventIds: [EVENT],
        acknowledgedMs: BEGAN,
        deliveryIds: [DELIVERY] as string[],
        deliveryCount: 1,
      },
    ],
    received: [request(1, 0, { answered: 503, answeredMs: BEGAN + 5 }), request(2, 1_010)],
    endpoints: [{ id: ENDPOINT, accountId: ACCOUNT, path: '/shop-0', schedule: [1_000] }],
    disruptions: [] as Collected['disruptions'],
    acts: [] as Collected['acts'],
    unsettled: [] as string[],
    deliveries: [delivery],
    events: [event],
    changes: [] as Collected['changes'],
    openInStats: { [ACCOUNT]: 0 } as Record<string, number>,
    log: { checkpoints: [{ atMs: BEGAN, size: 1, root: 'root' }], problems: [] as string[] },
    archiveDifferences: [] as string[],
  };
}

type Run = ReturnType<typeof wellRun>;

/** What the checker says of a run that a change made worse, by rule. */
function brokenBy(change: (run: Run) => void): string[] {
  const run = wellRun();
  change(run);
  return [...new Set(checkAll(run as unknown as Collected).map(({ rule }) => rule))].sort();
}

const only = <T>(all: readonly T[]): T => {
  assert.ok(all.length > 0);
  return all[0] as T;
};
const delivery = (run: Run) => only(run.deliveries) as DeliveryViews & Run['deliveries'][number];

/** Gives a delivery another status in every view. */
function everywhere(run: Run, status: string, attempts: AttemptFacts[]): void {
  const { listed, ofEvent, single, exported, timeline, explained, certified, executions } = delivery(run);
  for (const view of [listed, ofEvent, single, exported, timeline, explained, certified, only(executions)])
    view.status = status;
  for (const view of [single, exported]) view.attempts = attempts;
  for (const view of [timeline, explained, certified]) view.attempts = attempts.length;
}

describe('the rules of the chaos checker', () => {
  it('let a run pass in which everything is well', () => {
    assert.deepEqual(checkAll(wellRun()), []);
    const counts = countAll(wellRun());
    assert.deepEqual([counts.accepted, counts.deliveries, counts.requests, counts.repeated], [1, 1, 2, 0]);
  });

  describe('lost', () => {
    it('an accepted event that no view has', () => {
      const broken = brokenBy((run) => {
        run.deliveries = [];
        run.events = [];
        run.received = [];
      });
      assert.deepEqual(broken, ['lost']);
    });
    it('one of its deliveries that no view has', () => {
      const broken = brokenBy((run) => {
        only(run.posted).deliveryIds?.push(`dlv_${ULID}_01M8CZGMN3E3Y439HBQBDYBVBK`);
      });
      assert.deepEqual(broken, ['lost']);
    });
    it('a delivery of an event whose answer only counted them', () => {
      const broken = brokenBy((run) => {
        delete (only(run.posted) as { deliveryIds?: string[] }).deliveryIds;
        run.endpoints.push({
          id: 'ep_01M8CZGMN3E3Y439HBQBDYBVBK',
          accountId: ACCOUNT,
          path: '/',
          schedule: [],
        });
      });
      assert.deepEqual(broken, ['lost']);
    });
    it('a delivery that is shown as delivered and never was', () => {
      const broken = brokenBy((run) => {
        run.received.pop();
      });
      assert.deepEqual(broken, ['invented', 'lost']);
    });
    it('a delivery that was given up before its schedule was used up', () => {
      const broken = brokenBy((run) => {
        run.received.pop();
        everywhere(run, 'exhausted', [attempt(1, 0, { status_code: 503 })]);
      });
      assert.deepEqual(broken, ['lost']);
    });
    it('a delivery that was cancelled although nobody asked for it', () => {
      const cancel = (run: Run) => {
        run.received.pop();
        everywhere(run, 'cancelled', [attempt(1, 0, { status_code: 503 })]);
      };
      assert.deepEqual(brokenBy(cancel), ['lost']);
      const asked = brokenBy((run) => {
        cancel(run);
        run.acts.push({ name: 'cancel', atMs: BEGAN, status: 0, accountId: ACCOUNT, resource: DELIVERY });
      });
      assert.deepEqual(asked, []);
    });
  });

  describe('stuck', () => {
    it('a delivery that is open', () => {
      const broken = brokenBy((run) => {
        run.received.pop();
        everywhere(run, 'parked', [attempt(1, 0, { status_code: 503 })]);
      });
      assert.deepEqual(broken, ['stuck']);
    });
    it('a count of open deliveries', () => {
      const broken = brokenBy((run) => {
        run.openInStats[ACCOUNT] = 1;
      });
      assert.deepEqual(broken, ['stuck']);
    });
    it('an event that was never accepted, though it was sent again and again', () => {
      const broken = brokenBy((run) => {
        run.posted.push({ ...only(run.posted), orderId: 'order-2', eventIds: [], answers: [503, 0] });
      });
      assert.deepEqual(broken, ['stuck']);
    });
    it('what did not come to rest', () => {
      assert.deepEqual(
        brokenBy((run) => void run.unsettled.push('replays and erasures: 1')),
        ['stuck'],
      );
    });
  });

  describe('twice', () => {
    it('a repeat that got another event', () => {
      const broken = brokenBy((run) => {
        run.events.push({
          ...only(run.events),
          id: 'evt_01M8CZH5F9ZWSZFDHDVS11BYXR',
          single: { ...only(run.events).single, deliveries: [] },
        });
      });
      assert.deepEqual(broken, ['twice']);
    });
    const startTwice = (run: Run) =>
      void delivery(run).executions.push({ workflowId: 'group:grp_2', runId: 'other', status: 'delivered' });
    it('a delivery that two executions stand for', () => assert.deepEqual(brokenBy(startTwice), ['twice']));
    it('but not one that was sent again', () => {
      const broken = brokenBy((run) => {
        startTwice(run);
        for (const record of [delivery(run).single, delivery(run).exported])
          record.interventions = [{ action: 'resend', at: iso(BEGAN), by: 'key_1' }];
      });
      assert.deepEqual(broken, []);
    });
  });

  describe('early', () => {
    const secondAt = (run: Run, afterMs: number, trigger = 'schedule') => {
      for (const record of [delivery(run).single, delivery(run).exported])
        record.attempts[1] = attempt(2, afterMs, { trigger });
      run.received[1] = request(2, afterMs);
    };
    it('an attempt before the schedule allowed it', () => {
      assert.deepEqual(
        brokenBy((run) => secondAt(run, 900)),
        ['early'],
      );
    });
    it('but not one that was made by hand, or released', () => {
      for (const trigger of ['manual', 'released'])
        assert.deepEqual(
          brokenBy((run) => secondAt(run, 900, trigger)),
          [],
        );
    });
    it('an attempt before its Retry-After allowed it, also a released one', () => {
      const broken = brokenBy((run) => {
        secondAt(run, 2_000, 'released');
        only(run.received).notBeforeMs = BEGAN + 3_000;
      });
      assert.deepEqual(broken, ['early']);
    });
  });

  describe('repeated and unrecorded', () => {
    const again = (run: Run) => void run.received.push(request(2, 5_000));
    it('a request that no record has, and that came after a success, without a fault', () => {
      assert.deepEqual(brokenBy(again), ['repeated', 'unrecorded']);
    });
    it('but not near a fault: then it is a number', () => {
      const run = wellRun();
      again(run);
      run.disruptions.push({ name: 'node-killed', fromMs: BEGAN + 900, toMs: BEGAN + 3_000 });
      assert.deepEqual(checkAll(run), []);
      const { repeated, unrecorded } = countAll(run);
      assert.deepEqual([repeated, unrecorded], [1, 1]);
    });
  });

  it('invented: an event that nobody posted, an attempt that no receiver saw', () => {
    const event = brokenBy((run) => {
      run.posted = [];
    });
    assert.deepEqual(event, ['invented']);
    const answer = brokenBy((run) => {
      only(run.received).answered = 500;
    });
    assert.deepEqual(answer, ['invented']);
  });

  describe('views', () => {
    const changes: Record<string, (views: DeliveryViews & Run['deliveries'][number], run: Run) => void> = {
      'the list has another status': ({ listed }) => void Object.assign(listed, { status: 'retrying' }),
      'the list does not have it': (views) => void delete (views as Partial<typeof views>).listed,
      'the event has another run': ({ ofEvent }) => void Object.assign(ofEvent, { run_id: 'other' }),
      'the timeline lacks an attempt': ({ timeline }) => void Object.assign(timeline, { attempts: 1 }),
      'explain has another status': ({ explained }) => void Object.assign(explained, { status: 'parked' }),
      'the export has another attempt': ({ exported }) => void exported.attempts.pop(),
      'the certificate is of another record': ({ certified }) =>
        void Object.assign(certified, { attempts: 1 }),
      'Temporal lists another run': ({ executions }) =>
        void Object.assign(only(executions), { runId: 'other' }),
      'the list of events does not have it': (_, run) =>
        void Object.assign(only(run.events), { isListed: false }),
      'the event lacks a delivery': (_, run) => void only(run.events).single.deliveries.pop(),
      'archive verify found a difference': (_, run) => void run.archiveDifferences.push('differs in /status'),
    };
    for (const [name, change] of Object.entries(changes))
      it(name, () =>
        assert.deepEqual(
          brokenBy((run) => change(delivery(run), run)),
          ['views'],
        ),
      );
  });

  it('altered and unsigned: what arrived is not what was posted, or not signed', () => {
    assert.deepEqual(
      brokenBy((run) => void Object.assign(only(run.received), { sha256: 'other' })),
      ['altered'],
    );
    assert.deepEqual(
      brokenBy((run) => void Object.assign(only(run.received), { isSigned: false })),
      ['unsigned'],
    );
  });

  it('acts: a change that says what the record does not, unless it says that it was not done', () => {
    const cancelled = { deliveryId: DELIVERY, action: 'cancelled', at: iso(BEGAN) };
    assert.deepEqual(
      brokenBy((run) => void run.changes.push(cancelled)),
      ['acts'],
    );
    assert.deepEqual(
      brokenBy((run) => void run.changes.push({ ...cancelled, outcome: 'refused' })),
      [],
    );
    const done = brokenBy((run) => {
      run.changes.push(cancelled);
      for (const record of [delivery(run).single, delivery(run).exported])
        record.interventions = [{ action: 'cancel', at: iso(BEGAN), by: 'key_1' }];
    });
    assert.deepEqual(done, []);
  });

  it('erased: a payload that can be read after its erasure', () => {
    const erase = {
      name: 'erase-subject',
      atMs: BEGAN + 1,
      status: 200,
      accountId: ACCOUNT,
      resource: 'ada@example.com',
    };
    assert.deepEqual(
      brokenBy((run) => void run.acts.push(erase)),
      ['erased'],
    );
  });

  it('log: a checkpoint or a certificate that does not hold, or none at all', () => {
    assert.deepEqual(
      brokenBy((run) => void run.log.problems.push('5 records do not continue 4')),
      ['log'],
    );
    assert.deepEqual(
      brokenBy((run) => void run.log.checkpoints.pop()),
      ['log'],
    );
    assert.deepEqual(
      brokenBy((run) => void Object.assign(delivery(run), { certified: { problem: 'answered 404' } })),
      ['log'],
    );
  });

  it('are all told of in the report, each with the first twenty that broke it', () => {
    const run = wellRun();
    for (let number = 0; number < 25; number += 1) run.archiveDifferences.push(`differs in /${number}`);
    const report = reportOn(1, run, 0);
    const lines = tellReport(report);
    assert.equal(report.isWell, false);
    assert.equal(lines.filter((line) => line.startsWith('views: archive verify')).length, 20);
    assert.ok(lines.includes('views: and 5 more'));
    for (const rule of Object.keys(RULES))
      assert.ok(
        lines.some((line) => line.includes(rule)),
        rule,
      );
  });
});
