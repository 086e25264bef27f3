import { type DeliveryKey, deliveryId } from '../../domain/basics/delivery-id.js';
import { createdAt } from '../../domain/basics/id-time.js';
import {
  type DeliveryTarget,
  isClosed,
  type NamedEvent,
  shownReason,
} from '../../domain/delivery/delivery.js';
import type { FailingTask } from '../../domain/explain/failing-task.js';
import { incidentItems } from '../../domain/explain/incident-items.js';
import { type TimelineItem, timelineOf } from '../../domain/explain/timeline.js';
import { deliveryWorkflowId, groupWorkflowId } from '../../domain/ledger/workflow-ids.js';
import type { DeliveryFilter } from '../../domain/list/delivery-filter.js';
import type { DeliveryRow, EventRow, ListedDelivery, RecordReads } from '../../domain/records/stored.js';
import {
  deliveryIn,
  factsIn,
  runsIn,
  startableIn,
  summaryIn,
  timelineIn,
} from '../../domain/records/stored-views.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import { askedAttempts } from '../../domain/view/attempt-view.js';
import type { Delivery, DeliverySummary } from '../../domain/view/delivery-view.js';
import { readFailingTask } from './failing-task.js';
import { type LedgerSources, locateExecution, untilStored, workflowIdsOf } from './locate.js';
import { readRowPage } from './row-pages.js';
import { unlessAway } from './unless-away.js';
import type { Execution, Page } from './visibility/visibility.js';

/** The attempt that ends a delivery ends an incident of its endpoint a moment later. Milliseconds. */
const INCIDENT_LAG_MS = 10_000;

/** An endpoint's incidents are told as far back as this, the newest first. */
const MAX_INCIDENTS = 50;

/** Business keys are not read of larger payloads, bytes: a list would parse a hundred of them. */
const MAX_KEYED_PAYLOAD_BYTES = 65_536;

/** Fields that lists of deliveries show only on request. */
export const ROW_EXTRAS = ['last_attempt', 'business_keys'] as const;

export type RowExtra = (typeof ROW_EXTRAS)[number];

/** A row of a list with what it was asked for besides. */
export type ExtendedRow<T extends DeliverySummary = DeliverySummary> = T & {
  /** Maximum number of attempts, while it is open. */
  max_attempts?: number;
  /**
   * The payload of its event, of which business keys are read; absent if it cannot be read any more, or is too large.
   */
  payload?: string;
};

/** Reads deliveries from their rows. It asks Temporal only what an open one waits for there. */
export class DeliveryReader {
  private readonly sources: LedgerSources;

  constructor(sources: LedgerSources) {
    this.sources = sources;
  }

  /** One delivery of an account; `undefined` if the account has no such delivery. */
  async get(accountId: string, key: DeliveryKey): Promise<Delivery | undefined> {
    const stored = await this.stored(accountId, key);
    return stored ? deliveryIn(stored) : this.withoutRow(accountId, key);
  }

  private stored(accountId: string, key: DeliveryKey): Promise<DeliveryRow | undefined> {
    return this.sources.records.delivery(accountId, deliveryId(key));
  }

  /** A delivery that nothing has happened to yet: its event tells of it. */
  private async withoutRow(
    accountId: string,
    { event_id, endpoint_id }: DeliveryKey,
  ): Promise<Delivery | undefined> {
    const { records } = this.sources;
    const event = await records.event(accountId, event_id);
    if (!event?.endpoint_ids.includes(endpoint_id)) return undefined;
    return {
      ...notBegun(event, endpoint_id),
      ...{ payload_bytes: event.payload_bytes, attempts: [], payload_sha256: undefined },
      ...{ payload_erased: undefined, interventions: undefined, cause: undefined },
      ...{ asked_to_wait: undefined, earlier_runs: undefined },
    };
  }

  /** Everything that happened to a delivery, in order; `undefined` if the account has no such delivery. */
  async timeline(accountId: string, key: DeliveryKey): Promise<TimelineItem[] | undefined> {
    const stored = await this.stored(accountId, key);
    const delivery = stored ? deliveryIn(stored) : await this.withoutRow(accountId, key);
    if (!delivery) return undefined;
    const { event_id, event_kind, payload_bytes = 0, status, next_attempt_at, closed_at } = delivery;
    const told = stored
      ? timelineIn(stored)
      : timelineOf({ event_id, event_kind, payload_bytes }, [], { others: [] });
    const isUnderWay = status === 'delivering' && next_attempt_at === undefined;
    const wait: TimelineItem = { at: delivery.started_at, type: 'wait', text: delivery.reason ?? '' };
    const until = closed_at === undefined ? sharedDate() : new Date(Date.parse(closed_at) + INCIDENT_LAG_MS);
    const endpoint = { account_id: accountId, endpoint_id: key.endpoint_id };
    const from = new Date(createdAt(event_id));
    const incidents = await this.sources.incidents.within(endpoint, from, until, MAX_INCIDENTS);
    const items = incidentItems(incidents, from, until);
    const [accepted, ...others] = [...told, ...(isUnderWay ? [wait] : []), ...items];
    if (!accepted) return [];
    return [accepted, ...others.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))];
  }

  /**
   * The open workflow task of an execution, if it has failed: no delivery of it goes on before one succeeds.
   * `undefined` while Temporal is away.
   */
  failingTask(execution: { workflowId: string; runId: string }): Promise<FailingTask | undefined> {
    const { client } = this.sources;
    return unlessAway(client, () => readFailingTask(client, execution), undefined);
  }

  /** The ids of those of some events that an endpoint has got. */
  async delivered(accountId: string, endpointId: string, eventIds: readonly string[]): Promise<Set<string>> {
    if (eventIds.length === 0) return new Set();
    const filter = { endpoint_id: endpointId, event_ids: eventIds, statuses: ['delivered'] } as const;
    const found = await this.sources.records.deliveries(accountId, filter, {}, eventIds.length);
    return new Set(found.map(({ event_id }) => event_id));
  }

  /** The event of a delivery, to send it again; without it if its payload is not kept any more, or was erased. */
  async event(
    accountId: string,
    key: DeliveryKey,
  ): Promise<{
    event?: NamedEvent | undefined;
    isErased: boolean;
    ordered: Pick<DeliveryTarget, 'order_key'>;
  }> {
    const stored = await this.sources.records.event(accountId, key.event_id);
    const isErased = stored?.kept !== undefined && stored.payload === undefined;
    const order_key = stored?.order_of.get(key.endpoint_id);
    const ordered = order_key === undefined ? {} : { order_key };
    return { event: stored && startableIn(stored), isErased, ordered };
  }

  /** The workflow ids under which a delivery of an account may be found, the likeliest first. */
  workflowIds(accountId: string, key: DeliveryKey): Promise<string[]> {
    return workflowIdsOf(this.sources.records, accountId, key);
  }

  /** The latest execution of a delivery of an account; `undefined` if there is none. */
  execution(accountId: string, key: DeliveryKey): Promise<Execution | undefined> {
    return locateExecution(this.sources, accountId, key);
  }

  /**
   * A page of an account's deliveries: open ones first, then the latest closed.
   *
   * @param extras what rows show besides
   * @throws InvalidCursorError if the cursor did not come from this list
   */
  async list(
    accountId: string,
    filter: DeliveryFilter,
    limit: number,
    after?: string,
    extras: readonly RowExtra[] = [],
  ): Promise<Page<ExtendedRow>> {
    const { records } = this.sources;
    const read = () => listRows(records, accountId, filter, limit, after);
    const { event_id } = filter;
    const isOfOne = event_id !== undefined && after === undefined;
    const page = await (isOfOne ? untilStored(event_id, read, ({ data }) => data.length > 0) : read());
    return { ...page, data: await withExtras(records, page.data, extras, () => accountId) };
  }
}

/** A delivery that nothing has happened to yet, as lists show it: its event tells of it. */
export function notBegun(
  { id: event_id, account_id, event_kind, sequence, carrier_of }: EventRow,
  endpoint_id: string,
): DeliverySummary {
  const created_at = createdAt(event_id);
  const carrier = carrier_of.get(endpoint_id);
  return {
    ...{ id: deliveryId({ event_id, endpoint_id }), event_id, endpoint_id, event_kind },
    ...(sequence !== undefined && { sequence }),
    ...{ status: 'delivering', created_at, started_at: created_at },
    ...{ closed_at: undefined, next_attempt_at: undefined, reason: shownReason('delivering', undefined) },
    workflow_id:
      carrier === undefined
        ? deliveryWorkflowId(account_id, { event_id, endpoint_id })
        : groupWorkflowId(carrier),
    run_id: '',
  };
}

/** A row of a list, and what it is shown with only if that is asked for. */
export interface FoundRow {
  stored: ListedDelivery;
  shown: DeliverySummary;
}

/**
 * A page of rows that match. A filter by attempts is looked up in each row, so such a page may have fewer rows than its
 * limit, or none, and a cursor.
 *
 * @param accountId absent: of all accounts
 */
export async function listRows(
  records: RecordReads,
  accountId: string | undefined,
  filter: DeliveryFilter,
  limit: number,
  after: string | undefined,
): Promise<Page<FoundRow>> {
  return readRowPage(records, {
    ...{ accountId, filter, limit, after },
    atOnce: (wanted) => wanted,
    take: async (rows) =>
      (await withAttempts(records, filter, rows)).map((item) => ({ item, row: item.stored })),
  });
}

/** Those of some rows that have an attempt which is asked for, with these attempts. */
async function withAttempts(
  records: RecordReads,
  { any_attempt }: DeliveryFilter,
  rows: readonly ListedDelivery[],
): Promise<FoundRow[]> {
  if (!any_attempt) return rows.map((stored) => ({ stored, shown: summaryIn(stored) }));
  const found = await Promise.all(
    rows.map(async (stored): Promise<FoundRow[]> => {
      const whole = await records.delivery(stored.account_id, stored.id);
      const matching_attempts = whole ? askedAttempts(runsIn(whole), any_attempt) : [];
      return matching_attempts.length === 0
        ? []
        : [{ stored, shown: { ...summaryIn(stored), matching_attempts } }];
    }),
  );
  return found.flat();
}

/** Rows of a page with what they were asked for besides. */
export async function withExtras(
  records: RecordReads,
  rows: readonly FoundRow[],
  extras: readonly RowExtra[],
  accountOf: (row: FoundRow) => string,
): Promise<ExtendedRow[]> {
  const payloads = extras.includes('business_keys')
    ? await records.payloadsOf(
        rows.map((row) => ({ accountId: accountOf(row), eventId: row.stored.event_id })),
        MAX_KEYED_PAYLOAD_BYTES,
      )
    : new Map<string, string>();
  return rows.map(({ stored, shown }) => {
    const { last_attempt, max_attempts } = factsIn(stored);
    const payload = payloads.get(stored.event_id);
    return {
      ...shown,
      ...(extras.includes('last_attempt') && {
        ...(last_attempt && { last_attempt }),
        ...(!isClosed(shown.status) && max_attempts !== undefined && { max_attempts }),
      }),
      ...(payload !== undefined && { payload }),
    };
  });
}
