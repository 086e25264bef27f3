import assert from 'node:assert/strict';
import { checkAll, countAll } from '../../../bench/chaos/check/check.js';
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

describe('the rules of the chaos checker about deliveries', () => {
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
    it('but no event whose account was deleted before it was sent again', () => {
      const broken = brokenBy((run) => {
        const given = { orderId: 'order-2', eventIds: [], answers: [503, 0], isGivenUp: true as const };
        run.posted.push({ ...only(run.posted), ...given });
      });
      assert.deepEqual(broken, []);
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
    it('but not one that was made on request, or released', () => {
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
    it('a request of a try that its attempt says was lost is told', () => {
      const run = wellRun();
      run.received.push(request(1, 400, { answered: 503 }));
      for (const record of [delivery(run).single, delivery(run).exported])
        record.attempts[0] = attempt(1, 0, { status_code: 503, lost_tries: 1 });
      assert.deepEqual(checkAll(run), []);
      const { told, unrecorded } = countAll(run);
      assert.deepEqual([told, unrecorded], [1, 0]);
    });
    it('but not after an answer that came too late', () => {
      const run = wellRun();
      only(run.received).answered = 200;
      for (const record of [delivery(run).single, delivery(run).exported])
        record.attempts[0] = { ...attempt(1, 0), status_code: undefined, error_code: 'timeout' };
      assert.deepEqual(checkAll(run), []);
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
});
