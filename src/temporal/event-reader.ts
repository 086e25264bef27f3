import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import {
  ACCOUNT_ATTRIBUTE,
  EVENT_ATTRIBUTE,
  EVENT_HEAD_ATTRIBUTE,
  KIND_ATTRIBUTE,
} from '../domain/search-attributes.js';
import { type DeliverySummary, summarize } from './delivery-view.js';
import { readStartedEvent } from './history.js';
import { type Execution, equals, listExecutions, type Page, quote } from './visibility.js';
import { deliveryWorkflowId, fanOutWorkflowId } from './workflow-ids.js';

/** An event as a list shows it. */
export interface EventSummary {
  id: string;
  kind: string;
  created_at: string;
}

/** An event with its payload, exactly as it was received, and the first of its deliveries. */
export interface EventWithPayload extends EventSummary {
  payload: string;
  deliveries: Page<DeliverySummary>;
}

export interface EventFilter {
  kind?: string | undefined;
  created_after?: Date | undefined;
  created_before?: Date | undefined;
}

/** So many of an event's deliveries are shown with it; the others are found in the list of deliveries. */
const SHOWN_DELIVERIES = 100;

/** Reads events from the ledger: an event is known by the executions that it started. */
export class EventReader {
  private readonly client: Client;

  constructor(client: Client) {
    this.client = client;
  }

  /**
   * One event of an account; `undefined` where it has none such.
   *
   * @param candidates endpoints that the event may have gone to: an event so young that visibility does not know it is found by them
   */
  async get(
    accountId: string,
    eventId: string,
    candidates: readonly string[],
  ): Promise<EventWithPayload | undefined> {
    const clauses = [equals(ACCOUNT_ATTRIBUTE.name, accountId), equals(EVENT_ATTRIBUTE.name, eventId)];
    const page = await listExecutions(this.client, clauses, SHOWN_DELIVERIES, undefined);
    const executions =
      page.data.length > 0 ? page.data : await this.describeAll(accountId, eventId, candidates);
    const [first] = executions;
    if (!first) return undefined;
    const { event_kind, accepted_at, payload } = await readStartedEvent(this.client, first);
    const deliveries = executions.flatMap((execution) => summarize(execution) ?? []);
    return {
      id: eventId,
      kind: event_kind,
      created_at: accepted_at,
      payload,
      deliveries: { ...page, data: deliveries },
    };
  }

  /** A page of an account's events. */
  async list(
    accountId: string,
    filter: EventFilter,
    limit: number,
    after?: string,
  ): Promise<Page<EventSummary>> {
    const clauses = [
      `${EVENT_HEAD_ATTRIBUTE.name} = true`,
      equals(ACCOUNT_ATTRIBUTE.name, accountId),
      ...(filter.kind ? [equals(KIND_ATTRIBUTE.name, filter.kind)] : []),
      ...(filter.created_after ? [`StartTime > ${quote(filter.created_after.toISOString())}`] : []),
      ...(filter.created_before ? [`StartTime < ${quote(filter.created_before.toISOString())}`] : []),
    ];
    const page = await listExecutions(this.client, clauses, limit, after);
    return { ...page, data: page.data.map(summarizeEvent) };
  }

  private async describeAll(
    accountId: string,
    eventId: string,
    endpointIds: readonly string[],
  ): Promise<Execution[]> {
    const workflowIds = [
      fanOutWorkflowId(accountId, eventId),
      ...endpointIds.map((endpoint_id) => deliveryWorkflowId(accountId, { event_id: eventId, endpoint_id })),
    ];
    const found = await Promise.all(
      workflowIds.map(async (workflowId) => {
        try {
          return [await this.client.workflow.getHandle(workflowId).describe()];
        } catch (error) {
          if (error instanceof WorkflowNotFoundError) return [];
          throw error;
        }
      }),
    );
    return found.flat();
  }
}

function summarizeEvent(execution: Execution): EventSummary {
  return {
    id: execution.typedSearchAttributes.get(EVENT_ATTRIBUTE)?.[0] ?? '',
    kind: execution.typedSearchAttributes.get(KIND_ATTRIBUTE) ?? '',
    created_at: execution.startTime.toISOString(),
  };
}
