import assert from 'node:assert/strict';
import type { DeliveryViews } from '../../../bench/chaos/check/collected.js';
import { RULES } from '../../../bench/chaos/check/finding.js';
import { reportOn, tellReport } from '../../../bench/chaos/report.js';
import {
  ACCOUNT,
  BEGAN,
  brokenBy,
  DELIVERY,
  delivery,
  iso,
  only,
  type Run,
  wellRun,
} from '../../support/parts/chaos-run.js';

describe('the rules of the chaos checker about views', () => {
  describe('views', () => {
    const changes: Record<string, (views: DeliveryViews & Run['deliveries'][number], run: Run) => void> = {
      'the list has another status': ({ listed }) => void Object.assign(listed, { status: 'retrying' }),
      'the list does not have it': (views) => void delete (views as Partial<typeof views>).listed,
      'the event has another run': ({ ofEvent }) => void Object.assign(ofEvent, { run_id: 'other' }),
      'the timeline lacks an attempt': ({ timeline }) => void timeline.attempts.pop(),
      'explain has another status': ({ explained }) => void Object.assign(explained, { status: 'parked' }),
      'the export has another attempt': ({ exported }) => void exported.attempts.pop(),
      'the certificate is of another record': ({ certified }) =>
        void Object.assign(certified, { attempts: 1 }),
      'Temporal lists another run': ({ executions }) =>
        void Object.assign(only(executions), { runId: 'other' }),
      'its execution has ended, and it is open': (_, run) => {
        for (const { listed, ofEvent, single, exported } of run.deliveries)
          for (const view of [listed, ofEvent, single, exported])
            delete (view as Partial<typeof view>).closed_at;
      },
      'the list of events does not have it': (_, run) =>
        void Object.assign(only(run.events), { isListed: false }),
      'the event lacks a delivery': (_, run) => void only(run.events).single.deliveries.pop(),
      'records verify found a difference': (_, run) => void run.recordDifferences.push('differs in /status'),
    };
    for (const [name, change] of Object.entries(changes))
      it(name, () =>
        assert.deepEqual(
          brokenBy((run) => change(delivery(run), run)),
          ['views'],
        ),
      );
  });

  it('views: an event that was never answered 202 may be in no list', () => {
    const broken = brokenBy((run) => {
      const { exported, single, ...event } = only(run.events);
      const orderId = 'another order';
      const posted = { ...only(run.posted), orderId, answers: [503], eventIds: [] };
      delete (posted as Partial<typeof posted>).key;
      run.posted.push(posted);
      run.events.push({
        ...event,
        id: 'evt_unknown',
        isListed: false,
        exported: { ...exported, orderId },
        single: { ...single, orderId, deliveries: [] },
      });
    });
    assert.deepEqual(broken, []);
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
      brokenBy((run) => void Object.assign(delivery(run), { certified: { problem: 'got a 404 response' } })),
      ['log'],
    );
  });

  it('are all told of in the report, each with the first twenty that broke it', () => {
    const run = wellRun();
    for (let number = 0; number < 25; number += 1) run.recordDifferences.push(`differs in /${number}`);
    const report = reportOn(1, run, 0);
    const lines = tellReport(report);
    assert.equal(report.isWell, false);
    assert.equal(lines.filter((line) => line.startsWith('views: records verify')).length, 20);
    assert.ok(lines.includes('views: and 5 more'));
    for (const rule of Object.keys(RULES))
      assert.ok(
        lines.some((line) => line.includes(rule)),
        rule,
      );
  });
});
