import type { Client } from '@temporalio/client';
import type { DeliveryKey } from '../../domain/basics/ids.js';
import { hashPayload } from '../../domain/event/payload-hash.js';
import type { TimelineItem } from '../../domain/explain/timeline.js';
import { viewAttempt } from './attempt-view.js';
import type { DeliveryFilter } from './delivery-filter.js';
import { DeliveryList } from './delivery-list.js';
import type { Delivery, DeliverySummary } from './delivery-view.js';
import { readEarlierRuns } from './earlier-runs.js';
import type { RecentGroups } from './group/recent-groups.js';
import { readStarted } from './history.js';
import { Locator, untilVisible } from './locate.js';
import { type Located, RowReader } from './row-reader.js';
import { TimelineReader } from './timeline/timeline-reader.js';
import type { Page } from './visibility/visibility.js';

/** Reads deliveries from the ledger. It needs no worker, so it answers while deliveries stand still. */
export class DeliveryReader {
  private readonly client: Client;
  private readonly locator: Locator;
  private readonly timelines: TimelineReader;

  constructor(client: Client, recentGroups: RecentGroups) {
    this.client = client;
    this.locator = new Locator(client, recentGroups);
    this.timelines = new TimelineReader(client, this.locator);
  }

  /** The execution that stands for a delivery of an account; `undefined` if the account has no such delivery. */
  locate(accountId: string, key: DeliveryKey): Promise<Located | undefined> {
    return this.locator.locate(accountId, key);
  }

  /** Everything that happened to a delivery, in order; `undefined` if the account has no such delivery. */
  timeline(accountId: string, key: DeliveryKey): Promise<TimelineItem[] | undefined> {
    return this.timelines.read(accountId, key);
  }

  /** One delivery of an account, alone or in a group; `undefined` if the account has no such delivery. */
  async get(accountId: string, key: DeliveryKey): Promise<Delivery | undefined> {
    const located = await this.locate(accountId, key);
    if (!located) return undefined;
    const { execution } = located;
    const [{ summary, record }, earlierRuns, input] = await Promise.all([
      new RowReader(this.client).full(located),
      readEarlierRuns(this.client, execution, accountId, key),
      readStarted(this.client, execution, key.event_id),
    ]);
    const { event, resent } = input ?? {};
    return {
      ...summary,
      payload_sha256: event && (event.payload_sha256 ?? hashPayload(event.payload)),
      payload_bytes: event && Buffer.byteLength(event.payload),
      attempts: record?.attempts.map(viewAttempt) ?? [],
      interventions: record?.interventions ?? (resent && [resent]),
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
    const read = () => new DeliveryList(this.client, accountId, filter).deliveries(limit, after);
    if (filter.event_id === undefined || after !== undefined) return read();
    return untilVisible(filter.event_id, read, ({ data }) => data.length > 0);
  }
}
