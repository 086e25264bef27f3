import type { Client } from '@temporalio/client';
import type { DeliveryKey } from '../../domain/basics/ids.js';
import { type DeliveryStatus, isClosed } from '../../domain/delivery/delivery.js';
import {
  ACCOUNT_ATTRIBUTE,
  ENDPOINT_ATTRIBUTE,
  EVENT_ATTRIBUTE,
  KIND_ATTRIBUTE,
} from '../../domain/ledger/search-attributes.js';
import { deliveryWorkflowId } from '../../domain/ledger/workflow-ids.js';
import {
  type Delivery,
  type DeliveryRow,
  type DeliverySummary,
  deliveriesOf,
  recordInMemo,
  statusClauses,
} from './delivery-view.js';
import { findRuns, newestRuns, readEarlierRuns } from './earlier-runs.js';
import { listExpanded } from './expanded-list.js';
import type { RecentGroups } from './groups.js';
import { readClosingRecord } from './history.js';
import { describeExecution, type Execution, equals, listExecutions, type Page, quote } from './visibility.js';

/** What a list of deliveries is narrowed by. Every one that is given must match. */
export interface DeliveryFilter {
  endpoint_id?: string | undefined;
  event_id?: string | undefined;
  event_kind?: string | undefined;
  status?: DeliveryStatus | undefined;
  created_after?: Date | undefined;
  created_before?: Date | undefined;
}

/** Executions that stand for deliveries. */
const DELIVERY_TYPES = "WorkflowType IN ('deliverEvent', 'deliverGroup')";

/** Reads deliveries from the ledger. Nothing here needs a worker, so it answers while deliveries stand still. */
export class DeliveryReader {
  private readonly client: Client;
  private readonly recentGroups: RecentGroups;

  constructor(client: Client, recentGroups: RecentGroups) {
    this.client = client;
    this.recentGroups = recentGroups;
  }

  /** One delivery of an account, whether it travels alone or in a group; `undefined` where it has none such. */
  async get(accountId: string, key: DeliveryKey): Promise<Delivery | undefined> {
    const workflowId = deliveryWorkflowId(accountId, key);
    const recentGroup = this.recentGroups.find(workflowId);
    const execution =
      (await describeExecution(this.client, workflowId)) ||
      (recentGroup && (await describeExecution(this.client, recentGroup))) ||
      (await this.findGroup(accountId, key));
    const row = execution && deliveriesOf(execution).find((candidate) => isOf(candidate, accountId, key));
    if (!row) return undefined;
    const closed =
      execution.status.name === 'RUNNING'
        ? undefined
        : await readClosingRecord(this.client, execution, row.place);
    const record = closed ?? recordInMemo(execution);
    const earlierRuns = await readEarlierRuns(this.client, execution, workflowId);
    return {
      ...row.summary,
      reason: record?.reason ?? row.summary.reason,
      attempts: record?.attempts ?? [],
      interventions: record?.interventions,
      earlier_runs: earlierRuns.length > 0 ? earlierRuns : undefined,
    };
  }

  /** A page of an account's deliveries, each as it is in its newest run: open ones first, then the latest closed. */
  async list(
    accountId: string,
    filter: DeliveryFilter,
    limit: number,
    after?: string,
  ): Promise<Page<DeliverySummary>> {
    const clauses = [
      DELIVERY_TYPES,
      equals(ACCOUNT_ATTRIBUTE.name, accountId),
      ...(filter.endpoint_id ? [equals(ENDPOINT_ATTRIBUTE.name, filter.endpoint_id)] : []),
      ...(filter.event_id ? [equals(EVENT_ATTRIBUTE.name, filter.event_id)] : []),
      ...(filter.event_kind ? [equals(KIND_ATTRIBUTE.name, filter.event_kind)] : []),
      ...(filter.status ? statusClauses(filter.status) : []),
      ...(filter.created_after ? [`StartTime > ${quote(filter.created_after.toISOString())}`] : []),
      ...(filter.created_before ? [`StartTime < ${quote(filter.created_before.toISOString())}`] : []),
    ];
    // A row may be a group, in which others' deliveries stand as well.
    const wanted = ({ account_id, summary }: DeliveryRow): boolean =>
      account_id === accountId &&
      (!filter.endpoint_id || summary.endpoint_id === filter.endpoint_id) &&
      (!filter.event_id || summary.event_id === filter.event_id) &&
      (!filter.status || summary.status === filter.status);
    const expand = (execution: Execution) =>
      deliveriesOf(execution)
        .filter(wanted)
        .map(({ summary }) => summary);
    // Only what is closed can have been sent again.
    const keep = async (deliveries: DeliverySummary[]) => {
      const closed = deliveries.filter(({ status }) => isClosed(status));
      return newestRuns(deliveries, await findRuns(this.client, accountId, closed));
    };
    return listExpanded(this.client, clauses, { expand, keep }, limit, after);
  }

  private async findGroup(accountId: string, key: DeliveryKey): Promise<Execution | undefined> {
    const clauses = [
      equals('WorkflowType', 'deliverGroup'),
      equals(ACCOUNT_ATTRIBUTE.name, accountId),
      equals(EVENT_ATTRIBUTE.name, key.event_id),
      equals(ENDPOINT_ATTRIBUTE.name, key.endpoint_id),
    ];
    const { data } = await listExecutions(this.client, clauses, GROUPS_OF_AN_EVENT, undefined);
    return data.find((execution) => deliveriesOf(execution).some((row) => isOf(row, accountId, key)));
  }
}

/** More groups than an event's deliveries to one endpoint can be in. */
const GROUPS_OF_AN_EVENT = 10;

function isOf({ account_id, summary }: DeliveryRow, accountId: string, key: DeliveryKey): boolean {
  return (
    account_id === accountId && summary.event_id === key.event_id && summary.endpoint_id === key.endpoint_id
  );
}
