import type { Client } from '@temporalio/client';
import { isClosed } from '../../domain/delivery/delivery.js';
import { DELIVERY_TYPE, deliveryWorkflowId } from '../../domain/ledger/workflow-ids.js';
import type { PayloadSealer } from '../../domain/privacy/payload-sealer.js';
import { openAttempts } from './attempt-view.js';
import { deliveriesOf, type EarlierRun, earlierRun } from './delivery-view.js';
import { type Located, RowReader } from './row-reader.js';
import { EVERY_ACCOUNT, type Whose, where } from './visibility/clauses.js';
import { isOneOf, toQuery } from './visibility/query.js';
import { describeExecution, type Execution, everyExecution } from './visibility/visibility.js';

/** Key of the memo of a run that resends a delivery. */
export const RESEND_MEMO = 'resend';

/** Key of the memo of a run that a replay has started; its value is the replay's id. */
export const REPLAY_MEMO = 'replay';

/** Key of the memo of a run that somebody has started by sending a delivery again; its value names that act. */
export const ACT_MEMO = 'act';

/** Value of the first memo: the execution that stood for the delivery before, its own or a group's. */
export interface ResendMemo {
  workflow_id: string;
  run_id: string;
}

/** The API shows no more runs than this; Temporal UI has the others. */
const MAX_EARLIER_RUNS = 10;

/**
 * The runs of a delivery before the given one, newest first, with their attempts. A run that resends a delivery names
 * the run before, so a delivery that was never resent costs no call. Runs beyond the namespace's retention are in the
 * archive.
 *
 * @param archived runs of the delivery that the archive has, newest first
 */
export async function readEarlierRuns(
  client: Client,
  sealer: PayloadSealer,
  { execution, row: { account_id, summary: newest } }: Located,
  archived: readonly EarlierRun[] = [],
): Promise<EarlierRun[]> {
  const runs: EarlierRun[] = [];
  let previous = previousRun(execution);
  while (previous !== undefined && runs.length < MAX_EARLIER_RUNS) {
    const run = await describeExecution(client, previous.workflow_id, previous.run_id);
    const rows = run ? deliveriesOf(run, account_id) : [];
    const row = rows.find(({ summary }) => summary.id === newest.id);
    if (!run || !row) {
      const first = archived.findIndex(({ run_id }) => run_id === previous?.run_id);
      if (first >= 0) runs.push(...archived.slice(first).slice(0, MAX_EARLIER_RUNS - runs.length));
      break;
    }
    const { summary, record } = await new RowReader(client).full({ execution: run, row });
    const attempts = await openAttempts(sealer, { account_id, event_id: summary.event_id }, record?.attempts);
    runs.push(earlierRun(summary, { attempts, interventions: record?.interventions }));
    previous = previousRun(run);
  }
  return runs;
}

/**
 * Leaves out runs that do not count any more: of deliveries that were sent again, and of executions that were reset in
 * Temporal. Only the newest run of each delivery stays.
 *
 * @param runs where newer runs are looked for
 */
export function newestRuns<T extends Located>(deliveries: readonly T[], runs: readonly Located[]): T[] {
  const newest = new Map<string, string>();
  for (const run of runs) {
    const { id } = run.row.summary;
    if (orderOf(run) > (newest.get(id) ?? '')) newest.set(id, orderOf(run));
  }
  return deliveries.filter((one) => orderOf(one) >= (newest.get(one.row.summary.id) ?? ''));
}

/**
 * Sorts the runs of a delivery. A reset run has the start of the run that was reset in its memo, and a later one of its
 * own.
 */
function orderOf({ execution, row }: Located): string {
  return `${row.summary.started_at} ${execution.startTime.toISOString()}`;
}

/**
 * The runs of closed deliveries, and of the groups that they are in, that visibility lists. Most deliveries have no
 * other run than the one at hand, and to count executions costs a tenth of listing them, so they are counted first.
 */
export async function findRuns(
  client: Client,
  deliveries: readonly Located[],
  whose: Whose,
): Promise<Located[]> {
  const closed = deliveries.filter(({ row }) => isClosed(row.summary.status));
  if (closed.length === 0) return [];
  const ids = new Set(
    closed.flatMap(({ execution, row }) => [
      deliveryWorkflowId(row.account_id, row.summary),
      execution.workflowId,
    ]),
  );
  const clauses = [...where(EVERY_ACCOUNT, { type: DELIVERY_TYPE }), isOneOf('WorkflowId', [...ids])];
  const atHand = new Map(
    deliveries.flatMap(({ execution }) =>
      ids.has(execution.workflowId) ? [[execution.runId, execution]] : [],
    ),
  );
  const { count } = await client.workflow.count(toQuery(clauses));
  const executions = count === atHand.size ? atHand.values() : everyExecution(client, clauses);
  const runs: Located[] = [];
  for await (const execution of executions)
    runs.push(...deliveriesOf(execution, whose).map((row) => ({ execution, row })));
  return runs;
}

/** The run that an execution sends again, if it does. */
export function previousRun(execution: Execution): ResendMemo | undefined {
  return execution.memo?.[RESEND_MEMO] as ResendMemo | undefined;
}
