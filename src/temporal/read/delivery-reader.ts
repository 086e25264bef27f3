import type { Client } from '@temporalio/client';
import type { ArchivedDelivery, ArchiveReads } from '../../domain/archive/archived.js';
import type { Attempt } from '../../domain/attempt/attempt.js';
import { type DeliveryKey, deliveryId } from '../../domain/basics/delivery-id.js';
import type { AcceptedEvent } from '../../domain/delivery/delivery.js';
import type { FailingTask } from '../../domain/explain/failing-task.js';
import type { TimelineItem } from '../../domain/explain/timeline.js';
import type { DeliveryFilter } from '../../domain/list/delivery-filter.js';
import type { PayloadSealer } from '../../domain/privacy/payload-sealer.js';
import { acceptedEventIn, NO_ARCHIVE } from './archive/archived-event.js';
import { deliveryIn, earlierRunsIn, timelineIn, withEarlier } from './archive/archived-views.js';
import { deliveryLists } from './archive/both-lists.js';
import { deliveredEvents } from './archive/delivered-events.js';
import { listBoth } from './archive/merged-list.js';
import type { AttemptView } from './attempt-view.js';
import { readDelivery } from './delivery-detail.js';
import type { Delivery, DeliverySummary } from './delivery-view.js';
import { previousRun, readEarlierRuns } from './earlier-runs.js';
import { readFailingTask } from './failing-task.js';
import type { RecentGroups } from './group/recent-groups.js';
import { readStartedEvent } from './history.js';
import { Locator, untilVisible } from './locate.js';
import { Opener } from './privacy/opener.js';
import { type ExtendedRow, type RowExtra, RowExtras } from './row/row-extras.js';
import type { Located } from './row-reader.js';
import { TimelineReader } from './timeline/timeline-reader.js';
import type { Page } from './visibility/visibility.js';

/** Reads deliveries from the ledger, and what Temporal has removed from the archive. It needs no worker, so it answers while deliveries stand still. */
export class DeliveryReader {
  private readonly client: Client;
  private readonly opener: Opener;
  private readonly locator: Locator;
  private readonly timelines: TimelineReader;
  private readonly archive: ArchiveReads;
  /** What lists are asked for besides. */
  readonly extras: RowExtras;

  /** @param archive what Temporal has removed is read from it; absent: from nowhere */
  constructor(
    client: Client,
    recentGroups: RecentGroups,
    sealer: PayloadSealer,
    archive: ArchiveReads = NO_ARCHIVE,
  ) {
    this.client = client;
    this.opener = new Opener(sealer);
    this.archive = archive;
    this.locator = new Locator(client, recentGroups);
    this.timelines = new TimelineReader(client);
    this.extras = new RowExtras(client, sealer, archive);
  }

  /** The execution that stands for a delivery of an account; `undefined` if the account has no such delivery. */
  locate(accountId: string, key: DeliveryKey): Promise<Located | undefined> {
    return this.locator.locate(accountId, key);
  }

  /** Everything that happened to a delivery, in order; `undefined` if the account has no such delivery. */
  async timeline(accountId: string, key: DeliveryKey): Promise<TimelineItem[] | undefined> {
    const located = await this.locate(accountId, key);
    const archived = await this.archived(accountId, key, located);
    if (!located) return archived && timelineIn(archived);
    const items = await this.timelines.read(accountId, located);
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
    return readDelivery(this.client, this.opener, accountId, located, {
      ...(archived && { earlier: earlierRunsIn(archived) }),
    });
  }

  /** The open workflow task of an execution, if it has failed: no delivery of it goes on before one succeeds. */
  failingTask(execution: { workflowId: string; runId: string }): Promise<FailingTask | undefined> {
    return readFailingTask(this.client, execution);
  }

  /** The ids of those of some events that an endpoint has got. */
  delivered(accountId: string, endpointId: string, eventIds: readonly string[]): Promise<Set<string>> {
    const { client, archive } = this;
    return deliveredEvents({ client, archive, accountId }, endpointId, eventIds);
  }

  /** Attempts of a delivery's record as the HTTP interface shows them. */
  attempts(accountId: string, key: DeliveryKey, attempts: readonly Attempt[]): Promise<AttemptView[]> {
    return this.opener.attempts(accountId, key, attempts);
  }

  /** The event of a delivery, to send it again; `undefined` if its payload cannot be read any more. */
  async event(accountId: string, key: DeliveryKey): Promise<AcceptedEvent | undefined> {
    const located = await this.locate(accountId, key);
    if (located) return readStartedEvent(this.client, located.execution, key.event_id);
    const archived = await this.archive.event(accountId, key.event_id);
    return archived && acceptedEventIn(archived);
  }

  /** What the archive has of a delivery that is not in the ledger, or was sent again; of others nothing is asked. */
  private async archived(
    accountId: string,
    key: DeliveryKey,
    located: Located | undefined,
  ): Promise<ArchivedDelivery | undefined> {
    if (located && !previousRun(located.execution)) return undefined;
    return this.archive.delivery(accountId, deliveryId(key));
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
    const page = await this.page(accountId, filter, limit, after, extras);
    return { ...page, data: await this.extras.complete(page.data, extras, () => accountId) };
  }

  private page(
    accountId: string,
    filter: DeliveryFilter,
    limit: number,
    after: string | undefined,
    extras: readonly RowExtra[],
  ): Promise<Page<DeliverySummary>> {
    const { client, archive } = this;
    const lastAttempts = this.extras.attemptsIn(extras);
    const lists = deliveryLists({ client, archive, accountId, lastAttempts }, filter, async (located) => {
      const key = located.row.summary;
      const archived = await this.archived(accountId, key, located);
      const known = archived && earlierRunsIn(archived);
      return readEarlierRuns(client, this.opener, located.execution, accountId, key, known);
    });
    const read = () => listBoth(lists, limit, after);
    if (filter.event_id === undefined || after !== undefined) return read();
    return untilVisible(filter.event_id, read, ({ data }) => data.length > 0);
  }
}
