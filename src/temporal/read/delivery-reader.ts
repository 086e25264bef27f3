import type { Client } from '@temporalio/client';
import type { DeliveryKey } from '../../domain/basics/ids.js';
import { type DeliveryRecord, type DeliveryStatus, isClosed } from '../../domain/delivery/delivery.js';
import { hashPayload } from '../../domain/event/payload-hash.js';
import {
  ACCOUNT_ATTRIBUTE,
  ENDPOINT_ATTRIBUTE,
  EVENT_ATTRIBUTE,
  KIND_ATTRIBUTE,
} from '../../domain/ledger/search-attributes.js';
import { GROUP_TYPES } from '../../domain/ledger/workflow-ids.js';
import { viewAttempt } from './attempt-view.js';
import {
  type Delivery,
  type DeliverySummary,
  deliveriesOf,
  isCurrent,
  isWithin,
  type Period,
  periodClauses,
  statusClauses,
} from './delivery-view.js';
import { findRuns, newestRuns, readEarlierRuns } from './earlier-runs.js';
import { listExpanded } from './expanded-list.js';
import { hasKey } from './group-memo.js';
import type { RecentGroups } from './groups.js';
import { readStartedEvent } from './history.js';
import { type Located, Locator, untilVisible } from './locate.js';
import { equals, isOneOf } from './query.js';
import { endOf, readRecord } from './record.js';
import type { Execution, Page } from './visibility.js';

/** Filters of a list of deliveries. A delivery must match every filter that is given. */
export interface DeliveryFilter extends Period {
  endpoint_id?: string | undefined;
  event_id?: string | undefined;
  event_kind?: string | undefined;
  /** Token of a business key of the event. */
  key_token?: string | undefined;
  status?: DeliveryStatus | undefined;
}

/** Executions that stand for deliveries. */
const DELIVERY_TYPES = ['deliverEvent', ...GROUP_TYPES];

/** Reads deliveries from the ledger. It needs no worker, so it answers while deliveries stand still. */
export class DeliveryReader {
  private readonly client: Client;
  private readonly locator: Locator;

  constructor(client: Client, recentGroups: RecentGroups) {
    this.client = client;
    this.locator = new Locator(client, recentGroups);
  }

  /** The execution that stands for a delivery of an account; `undefined` if the account has no such delivery. */
  locate(accountId: string, key: DeliveryKey): Promise<Located | undefined> {
    return this.locator.locate(accountId, key);
  }

  /** One delivery of an account, alone or in a group; `undefined` if the account has no such delivery. */
  async get(accountId: string, key: DeliveryKey): Promise<Delivery | undefined> {
    const located = await this.locate(accountId, key);
    if (!located) return undefined;
    const { execution, row } = located;
    const [record, earlierRuns, event] = await Promise.all([
      readRecord(this.client, execution, row),
      readEarlierRuns(this.client, execution, accountId, key),
      readStartedEvent(this.client, execution, key.event_id),
    ]);
    return {
      ...row.summary,
      // Of a group's member the list knows less than the record.
      ...(row.index !== undefined && record && recordOfMember(record, row.summary)),
      reason: record?.reason ?? row.summary.reason,
      payload_sha256: event && (event.payload_sha256 ?? hashPayload(event.payload)),
      payload_bytes: event && Buffer.byteLength(event.payload),
      attempts: record?.attempts.map(viewAttempt) ?? [],
      interventions: record?.interventions,
      earlier_runs: earlierRuns.length > 0 ? earlierRuns : undefined,
    };
  }

  /** A page of an account's deliveries, each in its newest run: open ones first, then the latest closed. */
  list(
    accountId: string,
    filter: DeliveryFilter,
    limit: number,
    after?: string,
  ): Promise<Page<DeliverySummary>> {
    const clauses = [
      isOneOf('WorkflowType', DELIVERY_TYPES),
      isCurrent,
      equals(ACCOUNT_ATTRIBUTE.name, accountId),
      ...(filter.endpoint_id ? [equals(ENDPOINT_ATTRIBUTE.name, filter.endpoint_id)] : []),
      ...(filter.event_id ? [equals(EVENT_ATTRIBUTE.name, filter.event_id)] : []),
      ...(filter.event_kind ? [equals(KIND_ATTRIBUTE.name, filter.event_kind)] : []),
      ...(filter.key_token ? [equals(ACCOUNT_ATTRIBUTE.name, filter.key_token)] : []),
      ...(filter.status ? statusClauses(filter.status) : []),
      ...periodClauses(filter),
    ];
    // A row may be a group, which holds other deliveries, too.
    const isWanted = (summary: DeliverySummary): boolean =>
      isWithin(summary.event_id, filter) &&
      (!filter.endpoint_id || summary.endpoint_id === filter.endpoint_id) &&
      (!filter.event_id || summary.event_id === filter.event_id) &&
      (!filter.event_kind || summary.event_kind === filter.event_kind) &&
      (!filter.status || summary.status === filter.status);
    const expand = (execution: Execution) => {
      const isKeyed = filter.key_token ? hasKey(execution, filter.key_token) : () => true;
      return deliveriesOf(execution, accountId)
        .map(({ summary }) => summary)
        .filter((summary) => isWanted(summary) && isKeyed(summary.event_id));
    };
    // Only closed deliveries can have been resent.
    const keep = async (deliveries: DeliverySummary[]) => {
      const closed = deliveries.filter(({ status }) => isClosed(status));
      return newestRuns(deliveries, await findRuns(this.client, accountId, closed));
    };
    const read = () => listExpanded(this.client, clauses, { expand, keep }, limit, after);
    if (filter.event_id === undefined || after !== undefined) return read();
    return untilVisible(filter.event_id, read, ({ data }) => data.length > 0);
  }
}

function recordOfMember(record: DeliveryRecord, { closed_at }: DeliverySummary): Partial<DeliverySummary> {
  const { status, next_attempt_at } = record;
  return { status, next_attempt_at, closed_at: endOf(record) ?? closed_at };
}
