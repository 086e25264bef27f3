import assert from 'node:assert/strict';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createAttemptActivities } from '../../../activities/delivery/attempts.js';
import { EarlyAttempts } from '../../../activities/delivery/early-attempts.js';
import type { AttemptReport } from '../../../src/domain/delivery/attempt-report.js';
import type { AttemptRequest } from '../../../src/domain/delivery/attempt-request.js';
import { until } from '../../support/until.js';

/** That an activity fails, as some do here, is no news. */
const logger = new DefaultLogger('ERROR');
const EVENT = {
  account_id: 'acct_1',
  event_id: 'evt_1',
  event_kind: 'purchase',
  payload: '{}',
  accepted_at: '2026-01-31T12:00:00.000Z',
};
const { accepted_at: _, ...SENT } = EVENT;
const REQUEST: AttemptRequest = {
  ...SENT,
  endpoint_id: 'ep_1',
  number: 1,
  trigger: 'schedule',
  timeout_ms: 5_000,
};
const GROUP = { events: [EVENT], deliveries: [0, 1].map((n) => ({ endpoint_id: `ep_${n}`, event: 0 })) };

describe('early attempts', () => {
  function counted(fails: (request: AttemptRequest) => boolean = () => false) {
    const made: AttemptRequest[] = [];
    const attempt = async (request: AttemptRequest): Promise<AttemptReport> => {
      made.push(request);
      if (fails(request)) throw new Error('no database');
      return { kind: 'not_attempted', endpoint: 'disabled', reason: `attempt ${made.length}` };
    };
    const earlyAttempts = new EarlyAttempts(attempt);
    const { attemptDelivery, attemptGroup } = createAttemptActivities({ attempt, earlyAttempts });
    const asWorkflow = (runId: string) =>
      new MockActivityEnvironment({ workflowExecution: { workflowId: 'delivery', runId } }, { logger });
    return {
      made,
      earlyAttempts,
      ask: (runId: string, request = REQUEST) =>
        asWorkflow(runId).run(attemptDelivery, request) as Promise<AttemptReport>,
      askGroup: (runId: string) =>
        asWorkflow(runId).run(attemptGroup, { ...GROUP, timeout_ms: 5_000 }) as Promise<
          (AttemptReport | null)[]
        >,
    };
  }

  it('are made once, whether the start or the workflow comes first, as one asks for them', async () => {
    const { made, earlyAttempts, ask } = counted();
    earlyAttempts.begin('run-1', EVENT, 'ep_1', 5_000);
    const reports = [await ask('run-1'), await ask('run-2')];
    earlyAttempts.begin('run-2', EVENT, 'ep_1', 5_000);
    assert.deepEqual(
      reports.map((report) => report.kind === 'not_attempted' && report.reason),
      ['attempt 1', 'attempt 2'],
    );
    assert.deepEqual(made, [REQUEST, REQUEST]);
  });

  it('of a group are made once, and one that cannot be made takes nothing from the others', async () => {
    const { made, earlyAttempts, askGroup } = counted(({ endpoint_id }) => endpoint_id === 'ep_0');
    earlyAttempts.beginGroup('run-1', GROUP, 5_000);
    const [failed, report] = await askGroup('run-1');
    assert.equal(failed, null);
    assert.equal(report?.kind, 'not_attempted');
    assert.deepEqual(
      made,
      GROUP.deliveries.map(({ endpoint_id }) => ({ ...REQUEST, endpoint_id })),
    );
  });

  it('of a large group are begun a few at a time, so that nothing else waits for all of them', async () => {
    const { made, earlyAttempts } = counted();
    const deliveries = Array.from({ length: 60 }, (_, n) => ({ endpoint_id: `ep_${n}`, event: 0 }));
    earlyAttempts.beginGroup('run-1', { events: [EVENT], deliveries }, 5_000);
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(made.length < 60, `${made.length} were begun`);
    await until(
      () => made.length,
      (count) => count === 60,
    );
  });

  it('that cannot be made fail in the workflow alone', async () => {
    const { earlyAttempts, ask } = counted(() => true);
    earlyAttempts.begin('run-1', EVENT, 'ep_1', 5_000);
    earlyAttempts.begin('run-2', EVENT, 'ep_1', 5_000);
    // A rejection that nobody handles by then would end the process.
    await new Promise((resolve) => setImmediate(resolve));
    await assert.rejects(ask('run-1'), /no database/);
  });

  it('are not begun ahead any more once the worker stops', async () => {
    const { made, earlyAttempts, ask } = counted();
    earlyAttempts.stop();
    earlyAttempts.begin('run-1', EVENT, 'ep_1', 5_000);
    earlyAttempts.beginGroup('run-2', GROUP, 5_000);
    assert.equal(made.length, 0);
    await ask('run-1');
    assert.equal(made.length, 1);
  });

  it('are made again if a workflow asks again, and later attempts each time', async () => {
    const { made, earlyAttempts, ask } = counted();
    earlyAttempts.begin('run-1', EVENT, 'ep_1', 5_000);
    await ask('run-1');
    await ask('run-1');
    const later = { ...REQUEST, number: 2, isolated: true };
    await ask('run-1', later);
    await ask('run-1', later);
    assert.deepEqual(
      made.map(({ number }) => number),
      [1, 1, 2, 2],
    );
  });

  it('that nobody asks for are forgotten, oldest first', async () => {
    const { made, earlyAttempts, ask } = counted();
    for (let run = 0; run <= 1_000; run += 1) earlyAttempts.begin(`run-${run}`, EVENT, 'ep_1', 5_000);
    await ask('run-1');
    assert.equal(made.length, 1_001);
    await ask('run-0');
    assert.equal(made.length, 1_002);
  });
});
