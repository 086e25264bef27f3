import type { ArchivedDelivery } from '../../domain/archive/archived.js';
import type { Attempt } from '../../domain/attempt/attempt.js';
import { type DeliveryKey, deliveryId } from '../../domain/basics/delivery-id.js';
import type { AcceptedEvent } from '../../domain/delivery/delivery.js';
import type { FailingTask } from '../../domain/explain/failing-task.js';
import type { TimelineItem } from '../../domain/explain/timeline.js';
import type { DeliveryFilter } from '../../domain/list/delivery-filter.js';
import {
  acceptedEventIn,
  deliveryIn,
  earlierRunsIn,
  timelineIn,
  withEarlier,
} from './archive/archived-views.js';
import { deliveredEvents, deliveryLists } from './archive/both-lists.js';
import { listBoth } from './archive/merged-list.js';
import { type AttemptView, openAttempts } from './attempt-view.js';
import { readDelivery } from './delivery-detail.js';
import type { Delivery } from './delivery-view.js';
import { previousRun, readEarlierRuns } from './earlier-runs.js';
import { readFailingTask } from './failing-task.js';
import { readStartedEvent } from './history.js';
import { type LedgerSources, locateDelivery, untilVisible } from './locate.js';
import { type ExtendedRow, type RowExtra, RowExtras } from './row-extras.js';
import type { Located } from './row-reader.js';
import { TimelineReader } from './timeline/timeline-reader.js';
import type { Page } from './visibility/visibility.js';

/**
 * Reads deliveries from the ledger, and what Temporal has removed from the archive. It needs no worker, so it answers
 * while deliveries stand still.
 */
export class DeliveryReader {
  /** What lists are asked for besides. */
  readonly extras: RowExtras;
  private readonly sources: LedgerSources;

  constructor(sources: LedgerSources) {
    this.sources = sources;
    this.extras = new RowExtras(sources);
  }

  /** The execution that stands for a delivery of an account; `undefined` if the account has no such delivery. */
  locate(accountId: string, key: DeliveryKey): Promise<Located | undefined> {
    return locateDelivery(this.sources, accountId, key);
  }

  /** Everything that happened to a delivery, in order; `undefined` if the account has no such delivery. */
  async timeline(accountId: string, key: DeliveryKey): Promise<TimelineItem[] | undefined> {
    const located = await this.locate(accountId, key);
    const archived = await this.archived(accountId, key, located);
    if (!located) return archived && timelineIn(archived);
    const items = await new TimelineReader(this.sources.client).read(located);
    return items && withEarlier(items, archived && timelineIn(archived));
  }

  /** One delivery as the ledger has it; `undefined` if that has none, whatever the archive has. */
  async held(accountId: string, key: DeliveryKey): Promise<Delivery | undefined> {
    const located = await this.locate(accountId, key);
    return located && this.readHeld(accountId, key, located);
  }

  /** One delivery of an account, alone or in a group; `undefined` if the account has no such delivery. */
  async get(accountId: string, key: DeliveryKey): Promise<Delivery | undefined> {
    const located = await this.locate(accountId, key);
    if (located) return this.readHeld(accountId, key, located);
    const archived = await this.archived(accountId, key, located);
    return archived && deliveryIn(archived);
  }

  private async readHeld(accountId: string, key: DeliveryKey, located: Located): Promise<Delivery> {
    const archived = await this.archived(accountId, key, located);
    const { client, sealer } = this.sources;
    return readDelivery(client, sealer, located, { ...(archived && { earlier: earlierRunsIn(archived) }) });
  }

  /** The open workflow task of an execution, if it has failed: no delivery of it goes on before one succeeds. */
  failingTask(execution: { workflowId: string; runId: string }): Promise<FailingTask | undefined> {
    return readFailingTask(this.sources.client, execution);
  }

  /** The ids of those of some events that an endpoint has got. */
  delivered(accountId: string, endpointId: string, eventIds: readonly string[]): Promise<Set<string>> {
    return deliveredEvents({ ...this.sources, accountId }, endpointId, eventIds);
  }

  /** Attempts of a delivery's record as the HTTP interface shows them. */
  attempts(accountId: string, key: DeliveryKey, attempts: readonly Attempt[]): Promise<AttemptView[]> {
    return openAttempts(this.sources.sealer, { account_id: accountId, event_id: key.event_id }, attempts);
  }

  /** The event of a delivery, to send it again; `undefined` if its payload cannot be read any more. */
  async event(accountId: string, key: DeliveryKey): Promise<AcceptedEvent | undefined> {
    const located = await this.locate(accountId, key);
    if (located) return readStartedEvent(this.sources.client, located.execution, key.event_id);
    const archived = await this.sources.archive.event(accountId, key.event_id);
    return archived && acceptedEventIn(archived);
  }

  /** What the archive has of a delivery that is not in the ledger, or was sent again; of others nothing is asked. */
  private async archived(
    accountId: string,
    key: DeliveryKey,
    located: Located | undefined,
  ): Promise<ArchivedDelivery | undefined> {
    if (located && !previousRun(located.execution)) return undefined;
    return this.sources.archive.delivery(accountId, deliveryId(key));
  }

  /**
   * A page of an account's deliveries, each in its newest run: open ones first, then the latest closed.
   *
   * @param extras what rows show besides
   */
  async list(
    accountId: string,
    filter: DeliveryFilter,
    limit: number,
    after?: string,
    extras: readonly RowExtra[] = [],
  ): Promise<Page<ExtendedRow>> {
    const { client, sealer } = this.sources;
    const sources = { ...this.sources, accountId, lastAttempts: this.extras.attemptsIn(extras) };
    const lists = deliveryLists(sources, filter, async (located) => {
      const archived = await this.archived(accountId, located.row.summary, located);
      return readEarlierRuns(client, sealer, located, archived && earlierRunsIn(archived));
    });
    const read = () => listBoth(lists, limit, after);
    const { event_id } = filter;
    const isOfOne = event_id !== undefined && after === undefined;
    const page = await (isOfOne ? untilVisible(event_id, read, ({ data }) => data.length > 0) : read());
    return { ...page, data: await this.extras.complete(page.data, extras, () => accountId) };
  }
}
