import type { Client } from '@temporalio/client';
import { deliveryWorkflowId } from '../../domain/ledger/workflow-ids.js';
import { type DeliverySummary, deliveriesOf, type EarlierRun } from './delivery-view.js';
import { readClosingRecord } from './history.js';
import { describeExecution, type Execution, equals, quote } from './visibility.js';

/** Key of the memo of a run that was sent again. */
export const RESEND_MEMO = 'resend';

/** What that memo holds: the execution that stood for the delivery before, its own or a group's. */
export interface ResendMemo {
  workflow_id: string;
  run_id: string;
}

/** More runs than this are not shown; Temporal UI has them. */
const MAX_EARLIER_RUNS = 10;

/**
 * The runs of a delivery before the one that is given, newest first, with their attempts. Each run that was sent again names the one
 * before, so a delivery that never was costs no call. Runs beyond the namespace's retention are gone.
 *
 * @param member the workflow id that the delivery has by itself
 */
export async function readEarlierRuns(
  client: Client,
  execution: Execution,
  member: string,
): Promise<EarlierRun[]> {
  const runs: EarlierRun[] = [];
  let previous = previousRun(execution);
  while (previous !== undefined && runs.length < MAX_EARLIER_RUNS) {
    const run = await describeExecution(client, previous.workflow_id, previous.run_id);
    const row =
      run && deliveriesOf(run).find(({ account_id, summary }) => member === idOf(account_id, summary));
    if (!row) break;
    const { run_id, status, created_at, closed_at, reason } = row.summary;
    const record = await readClosingRecord(client, run, row.place);
    runs.push({
      run_id,
      status,
      created_at,
      closed_at,
      reason: record?.reason ?? reason,
      attempts: record?.attempts ?? [],
      ...(record?.interventions && { interventions: record.interventions }),
    });
    previous = previousRun(run);
  }
  return runs;
}

/**
 * Leaves out deliveries as they were before they were sent again: of each one the newest run stays.
 *
 * @param runs among which newer ones are looked for
 */
export function newestRuns(
  deliveries: readonly DeliverySummary[],
  runs: readonly DeliverySummary[],
): DeliverySummary[] {
  const newest = new Map<string, string>();
  for (const { id, created_at } of runs) if (created_at > (newest.get(id) ?? '')) newest.set(id, created_at);
  return deliveries.filter(({ id, created_at }) => created_at >= (newest.get(id) ?? ''));
}

/** The runs that deliveries of an account have as executions of their own, open and closed, as far as visibility knows them. */
export async function findRuns(
  client: Client,
  accountId: string,
  deliveries: readonly DeliverySummary[],
): Promise<DeliverySummary[]> {
  if (deliveries.length === 0) return [];
  const ids = new Set(deliveries.map((delivery) => quote(idOf(accountId, delivery))));
  const query = `${equals('WorkflowType', 'deliverEvent')} AND WorkflowId IN (${[...ids].join(', ')})`;
  const runs: DeliverySummary[] = [];
  for await (const execution of client.workflow.list({ query }))
    runs.push(...deliveriesOf(execution).map(({ summary }) => summary));
  return runs;
}

function idOf(accountId: string, { event_id, endpoint_id }: DeliverySummary): string {
  return deliveryWorkflowId(accountId, { event_id, endpoint_id });
}

function previousRun(execution: Execution): ResendMemo | undefined {
  return execution.memo?.[RESEND_MEMO] as ResendMemo | undefined;
}
