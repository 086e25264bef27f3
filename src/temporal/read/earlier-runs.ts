import type { Client } from '@temporalio/client';
import { type DeliveryKey, deliveryId } from '../../domain/basics/ids.js';
import { deliveryWorkflowId } from '../../domain/ledger/workflow-ids.js';
import { viewAttempt } from './attempt-view.js';
import { type DeliverySummary, deliveriesOf, type EarlierRun } from './delivery-view.js';
import { equals, isOneOf, toQuery } from './query.js';
import { endOf, readRecord } from './record.js';
import { describeExecution, type Execution } from './visibility.js';

/** Key of the memo of a run that resends a delivery. */
export const RESEND_MEMO = 'resend';

/** Value of that memo: the execution that stood for the delivery before, its own or a group's. */
export interface ResendMemo {
  workflow_id: string;
  run_id: string;
}

/** The API shows no more runs than this; Temporal UI has the others. */
const MAX_EARLIER_RUNS = 10;

/**
 * The runs of a delivery before the given one, newest first, with their attempts. A run that resends a delivery names the run before, so
 * a delivery that was never resent costs no call. Runs beyond the namespace's retention are gone.
 */
export async function readEarlierRuns(
  client: Client,
  execution: Execution,
  accountId: string,
  key: DeliveryKey,
): Promise<EarlierRun[]> {
  const id = deliveryId(key);
  const runs: EarlierRun[] = [];
  let previous = previousRun(execution);
  while (previous !== undefined && runs.length < MAX_EARLIER_RUNS) {
    const run = await describeExecution(client, previous.workflow_id, previous.run_id);
    const row = run && deliveriesOf(run, accountId).find(({ summary }) => summary.id === id);
    if (!row) break;
    const record = await readRecord(client, run, row);
    const { run_id, status, created_at, started_at, closed_at, reason } = row.summary;
    runs.push({
      run_id,
      status,
      created_at,
      started_at,
      closed_at: closed_at ?? (record && endOf(record)),
      reason: record?.reason ?? reason,
      attempts: record?.attempts.map(viewAttempt) ?? [],
      ...(record?.interventions && { interventions: record.interventions }),
    });
    previous = previousRun(run);
  }
  return runs;
}

/**
 * Leaves out runs of deliveries that were resent: only the newest run of each delivery stays.
 *
 * @param runs where newer runs are looked for
 */
export function newestRuns(
  deliveries: readonly DeliverySummary[],
  runs: readonly DeliverySummary[],
): DeliverySummary[] {
  const newest = new Map<string, string>();
  for (const { id, started_at } of runs) if (started_at > (newest.get(id) ?? '')) newest.set(id, started_at);
  return deliveries.filter(({ id, started_at }) => started_at >= (newest.get(id) ?? ''));
}

/** The runs that deliveries of an account have as executions of their own, open and closed, that visibility lists. */
export async function findRuns(
  client: Client,
  accountId: string,
  deliveries: readonly DeliverySummary[],
): Promise<DeliverySummary[]> {
  if (deliveries.length === 0) return [];
  const ids = new Set(deliveries.map((delivery) => deliveryWorkflowId(accountId, delivery)));
  const query = toQuery([equals('WorkflowType', 'deliverEvent'), isOneOf('WorkflowId', [...ids])]);
  const runs: DeliverySummary[] = [];
  for await (const execution of client.workflow.list({ query }))
    runs.push(...deliveriesOf(execution, accountId).map(({ summary }) => summary));
  return runs;
}

function previousRun(execution: Execution): ResendMemo | undefined {
  return execution.memo?.[RESEND_MEMO] as ResendMemo | undefined;
}
