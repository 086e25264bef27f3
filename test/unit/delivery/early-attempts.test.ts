import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { AttemptPorts } from '../../../activities/delivery/attempts.js';
import { createAttemptActivities } from '../../../activities/delivery/attempts.js';
import { EarlyAttempts } from '../../../activities/delivery/early-attempts.js';
import { ended } from '../../../activities/delivery/hand-over.js';
import type { AttemptReport } from '../../../src/domain/attempt/attempt-report.js';
import type { AttemptOrder } from '../../../src/domain/delivery/attempt-order.js';
import type { AttemptRequest } from '../../../src/domain/delivery/attempt-request.js';
import { GroupMachine } from '../../../src/domain/delivery/delivery-group.js';
import type { MadeAttempts } from '../../../src/domain/records/row/attempt-orders.js';
import { until } from '../../support/until.js';

/** Quiet: some activities fail here on purpose. */
const logger = new DefaultLogger('ERROR');
const EVENT = {
  account_id: 'acct_1',
  event_id: 'evt_1',
  event_kind: 'purchase',
  payload: '{}',
  accepted_at: '2026-01-31T12:00:00.000Z',
};
const { accepted_at: _, payload: __, ...SENT } = EVENT;
const REQUEST: AttemptRequest = {
  ...SENT,
  endpoint_id: 'ep_1',
  number: 1,
  trigger: 'schedule',
  timeout_ms: 5_000,
};
const SETTINGS = { schedule: [], attempt_timeout_ms: 5_000, park_limit_ms: 1_000 };
/** The first attempts of an execution with these endpoints. */
function ordersTo(...endpoints: string[]): AttemptOrder[] {
  const deliveries = endpoints.map((endpoint_id) => ({ endpoint_id, event: 0 }));
  const machine = new GroupMachine({ events: [EVENT], deliveries, ...SETTINGS }, 0);
  return machine.orders(machine.firstAttempts);
}
const ONE = ordersTo('ep_1');
const OTHER = ordersTo('ep_2');
const GROUP = ordersTo('ep_0', 'ep_1');

describe('early attempts', () => {
  function counted(fails: (request: AttemptRequest) => boolean = () => false) {
    const made: AttemptRequest[] = [];
    const attempt = async (request: AttemptRequest): Promise<AttemptReport> => {
      made.push(request);
      if (fails(request)) throw new Error('no database');
      return ended({ kind: 'not_attempted', endpoint: 'disabled', reason: `attempt ${made.length}` });
    };
    const earlyAttempts = new EarlyAttempts(attempt);
    const none = { keep: async () => new Set(), note: async () => {}, isWatched: async () => false };
    const others = { ledger: {}, rows: none, endpoints: none, ends: none } as unknown as AttemptPorts;
    const { attemptFirst } = createAttemptActivities({ ...others, attempt, earlyAttempts });
    const asWorkflow = (runId: string) =>
      new MockActivityEnvironment({ workflowExecution: { workflowId: 'delivery', runId } }, { logger });
    return {
      made,
      earlyAttempts,
      async ask(orders = ONE) {
        const run_id = 'run-1';
        const run = { workflow_id: 'delivery', run_id, started_at: EVENT.accepted_at };
        const request = { run, turn: 1, settings: SETTINGS, seed: '', orders, asked_at: 0 };
        return ((await asWorkflow(run_id).run(attemptFirst, request)) as MadeAttempts).reports;
      },
    };
  }

  it('are made once, whether the accepting side or the workflow comes first, as one asks for them', async () => {
    const { made, earlyAttempts, ask } = counted();
    earlyAttempts.begin(ONE, 5_000);
    earlyAttempts.begin(ONE, 5_000);
    const reports = [...(await ask()), ...(await ask(OTHER))];
    assert.deepEqual(
      reports.map((report) => report?.kind === 'not_attempted' && report.reason),
      ['attempt 1', 'attempt 2'],
    );
    const other = { ...REQUEST, endpoint_id: 'ep_2' };
    assert.deepEqual(made, [{ ...REQUEST, placed: true }, other], 'the lane is decided once');
  });

  it('of a group are made once, and one that cannot be made takes nothing from the others', async () => {
    const { made, earlyAttempts, ask } = counted(({ endpoint_id }) => endpoint_id === 'ep_0');
    earlyAttempts.begin(GROUP, 5_000);
    const [failed, report] = await ask(GROUP);
    assert.equal(failed, null);
    assert.equal(report?.kind, 'not_attempted');
    assert.deepEqual(
      made,
      GROUP.map(({ endpoint_id }) => ({ ...REQUEST, endpoint_id, placed: true })),
    );
  });

  it('of a large group are begun a few at a time, so that nothing else waits for all of them', async () => {
    const { made, earlyAttempts } = counted();
    const orders = ordersTo(...Array.from({ length: 60 }, (_, n) => `ep_${n}`));
    earlyAttempts.begin(orders, 5_000);
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(made.length < 60, `${made.length} were begun`);
    await until(
      () => made.length,
      (count) => count === 60,
    );
  });

  it('that cannot be made are reported to the workflow alone', async () => {
    const { earlyAttempts, ask } = counted(() => true);
    earlyAttempts.begin(GROUP, 5_000);
    // A rejection that nobody handles by then would end the process.
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(await ask(), [null]);
  });

  it('are not begun ahead any more once the worker stops', async () => {
    const { made, earlyAttempts, ask } = counted();
    earlyAttempts.stop();
    earlyAttempts.begin(ONE, 5_000);
    earlyAttempts.begin(GROUP, 5_000);
    assert.equal(made.length, 0);
    await ask();
    assert.equal(made.length, 1);
  });

  it('are reported here only if no workflow asks for them within a moment of their end', async () => {
    const { made, earlyAttempts, ask } = counted();
    earlyAttempts.begin(ONE, 5_000);
    const reports: (AttemptReport | null)[] = [];
    const kept = earlyAttempts.keepUnclaimed(ONE, async (some) => void reports.push(...some));
    await ask();
    await kept;
    assert.equal(reports.length, 0, 'the workflow has asked');
    earlyAttempts.begin(OTHER, 5_000);
    await earlyAttempts.keepUnclaimed(OTHER, async (some) => {
      assert.ok(earlyAttempts.isKeeping(OTHER) && !earlyAttempts.has(OTHER));
      reports.push(...some);
    });
    assert.equal(earlyAttempts.isKeeping(OTHER), false);
    const [report] = reports;
    assert.equal(report?.kind === 'not_attempted' && report.reason, 'attempt 2');
    await ask(OTHER);
    assert.equal(made.length, 3, 'a workflow that asks after that makes the attempt itself');
  });

  it('that an endpoint did not take are made anew if their workflow starts late: it may take them by then', async () => {
    const { made, earlyAttempts, ask } = counted();
    earlyAttempts.begin(GROUP, 5_000);
    await until(
      () => made.length,
      (count) => count === 2,
    );
    const began = performance.now();
    const clock = mock.method(performance, 'now', () => began + 4_000);
    try {
      await ask(ordersTo('ep_0'));
      assert.equal(made.length, 2);
      clock.mock.mockImplementation(() => began + 6_000);
      await ask();
      assert.equal(made.length, 3);
    } finally {
      clock.mock.restore();
    }
  });

  it('are made again if a workflow asks again', async () => {
    const { made, earlyAttempts, ask } = counted();
    earlyAttempts.begin(ONE, 5_000);
    await ask();
    assert.equal(made.length, 1);
    await ask();
    assert.equal(made.length, 2);
  });
});
