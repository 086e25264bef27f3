import assert from 'node:assert/strict';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { DeliveryKey } from '../../../src/domain/basics/delivery-id.js';
import type { Change } from '../../../src/domain/change/change.js';
import { deliveryWorkflowId, replayWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import { ActOutcomes } from '../../../src/temporal/read/acts/act-outcomes.js';
import type { Execution } from '../../../src/temporal/read/visibility/visibility.js';

const ACCOUNT = 'acct_01J00000000000000000000000';
const KEY = { event_id: 'evt_01J00000000000000000000000', endpoint_id: 'ep_01J00000000000000000000000' };
const DELIVERY = 'dlv_01J00000000000000000000000_01J00000000000000000000000';
const OWN = deliveryWorkflowId(ACCOUNT, KEY);
const NAME = 'chg_01J00000000000000000000000';
/** Id of the update that does the act. */
const UPDATE = `${NAME} ${DELIVERY}`;
const REPLAY = 'rpl_01J00000000000000000000000';
const HOUR_MS = 3_600_000;

interface Run {
  memo?: Record<string, unknown>;
  status?: 'RUNNING' | 'COMPLETED';
  events?: readonly object[];
  /** Instead of the newest. */
  runId?: string;
}

const accepted = (updateId: string) => ({
  workflowExecutionUpdateAcceptedEventAttributes: { acceptedRequest: { meta: { updateId } } },
});
const completed = (updateId: string, failure?: object) => ({
  workflowExecutionUpdateCompletedEventAttributes: {
    meta: { updateId },
    outcome: failure ? { failure } : {},
  },
});

/** Executions that Temporal has, by workflow id: the newest run first. */
function outcomesIn(executions: Record<string, Run[]>): ActOutcomes {
  const runOf = (workflowId: string, runId?: string) => {
    const runs = (executions[workflowId] ?? []).map((run, at) => ({ runId: `run-${at}`, ...run }));
    const found = runId === undefined ? runs[0] : runs.find((run) => run.runId === runId);
    if (!found) throw new WorkflowNotFoundError('not found', workflowId, runId);
    const { status = 'RUNNING', memo = {}, events = [] } = found;
    return { workflowId, runId: found.runId, status: { name: status }, memo, events };
  };
  const getHandle = (workflowId: string, runId?: string) => ({
    describe: async () => runOf(workflowId, runId),
    fetchHistory: async () => runOf(workflowId, runId),
  });
  const client = { workflow: { getHandle } } as unknown as Client;
  /** A delivery is found in the execution of its own, if there is one. */
  const execution = async (accountId: string, key: DeliveryKey) => {
    const id = deliveryWorkflowId(accountId, key);
    return executions[id]?.length ? (runOf(id) as unknown as Execution) : undefined;
  };
  return new ActOutcomes(client, { execution });
}

const change = (more: Partial<Change> = {}): Change => ({
  id: NAME,
  resource: `delivery:${DELIVERY}`,
  action: 'cancelled',
  outcome: 'unknown',
  at: new Date(Date.now() - HOUR_MS).toISOString(),
  actor: { type: 'api_key', id: 'key_1' },
  changed: [],
  ...more,
});

describe('how an act ended of which nobody said so', () => {
  for (const [what, runs, outcome] of [
    [
      'its update was accepted',
      [{ events: [accepted('other'), accepted(UPDATE), completed(UPDATE)] }],
      'done',
    ],
    ['its update was accepted, and is not over', [{ events: [accepted(UPDATE)] }], 'done'],
    ['its update failed', [{ events: [accepted(UPDATE), completed(UPDATE, {})] }], 'refused'],
    ['there is none', [{ events: [accepted('other')] }], 'refused'],
    ['it was of a run before', [sentAgain(), { runId: 'run-1', events: [accepted(UPDATE)] }], 'done'],
    [
      'it was of a run that this one continues',
      [continued(), { runId: 'before', events: [accepted(UPDATE)] }],
      'done',
    ],
    ['the delivery is nowhere', [], 'refused'],
  ] as const) {
    it(`is found by what the delivery has: ${what}`, async () => {
      assert.equal(await outcomesIn({ [OWN]: [...runs] }).of(ACCOUNT, change()), outcome);
    });
  }

  it('is found by the memo of the run that it started', async () => {
    const resent = change({ action: 'resent' });
    assert.equal(await outcomesIn({ [OWN]: [{ memo: { act: NAME } }] }).of(ACCOUNT, resent), 'done');
    assert.equal(await outcomesIn({ [OWN]: [{ memo: { act: 'other' } }] }).of(ACCOUNT, resent), 'refused');
  });

  it('is not told as long as a replay may do it, and then by its name', async () => {
    const replayed = change({ action: 'resent', replay: REPLAY });
    const replay = replayWorkflowId(ACCOUNT, REPLAY);
    const of = (status: Run['status'], memo = {}) =>
      outcomesIn({ [replay]: [{ status }], [OWN]: [{ memo }] }).of(ACCOUNT, replayed);
    assert.equal(await of('RUNNING'), undefined);
    assert.equal(await of('COMPLETED', { replay: REPLAY }), 'done');
    assert.equal(await of('COMPLETED'), 'refused');
  });

  it('is found of replays, also in a run that the last one continues', async () => {
    const id = replayWorkflowId(ACCOUNT, REPLAY);
    const created = change({ resource: `replay:${REPLAY}`, action: 'created' });
    assert.equal(await outcomesIn({ [id]: [{}] }).of(ACCOUNT, created), 'done');
    assert.equal(await outcomesIn({}).of(ACCOUNT, created), 'refused');
    const paused = change({ resource: `replay:${REPLAY}`, action: 'paused' });
    const runs = [continued(), { runId: 'before', events: [accepted(NAME)] }];
    assert.equal(await outcomesIn({ [id]: runs }).of(ACCOUNT, paused), 'done');
    assert.equal(await outcomesIn({ [id]: [continued()] }).of(ACCOUNT, paused), 'refused');
  });

  it('stays unknown if Temporal may have removed it', async () => {
    const old = change({ at: new Date(Date.now() - 24 * HOUR_MS).toISOString() });
    assert.equal(await outcomesIn({}).of(ACCOUNT, old), 'unknown');
    assert.equal(await outcomesIn({ [OWN]: [{ events: [accepted(UPDATE)] }] }).of(ACCOUNT, old), 'done');
  });
});

function sentAgain(): Run {
  return { memo: { resend: { workflow_id: OWN, run_id: 'run-1' } } };
}

function continued(): Run {
  return { events: [{ workflowExecutionStartedEventAttributes: { continuedExecutionRunId: 'before' } }] };
}
