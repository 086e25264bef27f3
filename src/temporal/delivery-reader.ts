import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { DeliveryStatus } from '../domain/delivery.js';
import type { DeliveryKey } from '../domain/ids.js';
import {
  ACCOUNT_ATTRIBUTE,
  ENDPOINT_ATTRIBUTE,
  EVENT_ATTRIBUTE,
  KIND_ATTRIBUTE,
} from '../domain/search-attributes.js';
import {
  type Delivery,
  type DeliverySummary,
  recordInMemo,
  statusClauses,
  summarize,
} from './delivery-view.js';
import { readClosingRecord } from './history.js';
import { equals, listExecutions, type Page, quote } from './visibility.js';
import { deliveryWorkflowId } from './workflow-ids.js';

/** What a list of deliveries is narrowed by. Every one that is given must match. */
export interface DeliveryFilter {
  endpoint_id?: string | undefined;
  event_id?: string | undefined;
  event_kind?: string | undefined;
  status?: DeliveryStatus | undefined;
  created_after?: Date | undefined;
  created_before?: Date | undefined;
}

/** Reads deliveries from the ledger. Nothing here needs a worker, so it answers while deliveries stand still. */
export class DeliveryReader {
  private readonly client: Client;

  constructor(client: Client) {
    this.client = client;
  }

  /** One delivery of an account; `undefined` where it has none such. */
  async get(accountId: string, key: DeliveryKey): Promise<Delivery | undefined> {
    try {
      const execution = await this.client.workflow.getHandle(deliveryWorkflowId(accountId, key)).describe();
      const summary = summarize(execution);
      if (!summary) return undefined;
      const closed =
        execution.status.name === 'RUNNING' ? undefined : await readClosingRecord(this.client, execution);
      const record = closed ?? recordInMemo(execution);
      return {
        ...summary,
        reason: record?.reason ?? summary.reason,
        attempts: record?.attempts ?? [],
        interventions: record?.interventions,
      };
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    }
  }

  /** A page of an account's deliveries: open ones first, then the latest closed. */
  async list(
    accountId: string,
    filter: DeliveryFilter,
    limit: number,
    after?: string,
  ): Promise<Page<DeliverySummary>> {
    const clauses = [
      equals('WorkflowType', 'deliverEvent'),
      equals(ACCOUNT_ATTRIBUTE.name, accountId),
      ...(filter.endpoint_id ? [equals(ENDPOINT_ATTRIBUTE.name, filter.endpoint_id)] : []),
      ...(filter.event_id ? [equals(EVENT_ATTRIBUTE.name, filter.event_id)] : []),
      ...(filter.event_kind ? [equals(KIND_ATTRIBUTE.name, filter.event_kind)] : []),
      ...(filter.status ? statusClauses(filter.status) : []),
      ...(filter.created_after ? [`StartTime > ${quote(filter.created_after.toISOString())}`] : []),
      ...(filter.created_before ? [`StartTime < ${quote(filter.created_before.toISOString())}`] : []),
    ];
    const page = await listExecutions(this.client, clauses, limit, after);
    return { ...page, data: page.data.flatMap((execution) => summarize(execution) ?? []) };
  }
}
