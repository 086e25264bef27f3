import type { Connection } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { UNITS } from '../../domain/basics/duration.js';
import { groupedBy } from '../../domain/basics/objects.js';
import type { KeptDays } from '../../domain/records/kept-days.js';
import { FIRST_OPEN_POSITION } from '../../domain/records/stored.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import { EventSeal } from '../event/event-document.js';
import { DeliveryWriter } from './delivery-writer.js';
import { EventsOfRows } from './events-of-rows.js';
import { type ReaderSources, RecordReader } from './record-reader.js';
import { RowQueries } from './row-queries.js';
import { RowTags } from './row-tags.js';

/** Ids in one query. */
const IDS_AT_ONCE = 500;
/** A payload of which something is still to be sent is looked at again after this, milliseconds. */
const POSTPONED_MS = UNITS.h;

/** How long closed deliveries are kept, and how long the payloads of their events. */
export interface Retention {
  records: KeptDays;
  payloads: KeptDays;
}

/** Deliveries and events, for as long as the operator keeps them. */
export class RecordRepository extends RecordReader {
  private readonly eventSeal: EventSeal;
  readonly eventsOfRows: EventsOfRows;
  readonly rows: DeliveryWriter;
  readonly search: RowQueries;

  /** @param box tags what is written */
  constructor(
    connection: Connection,
    { records }: Retention,
    sources: ReaderSources,
    box: SecretBox | undefined,
  ) {
    const tags = new RowTags(box);
    const eventSeal = new EventSeal(box);
    super(connection, sources, tags, eventSeal);
    this.eventSeal = eventSeal;
    const { sealer, payloads, segments } = sources;
    this.search = new RowQueries(this.deliveryModel, this.eventModel, this.unaltered);
    this.eventsOfRows = new EventsOfRows(connection, payloads, box);
    this.rows = new DeliveryWriter(connection, {
      ...{ tags, reader: this.unaltered, sealer, events: this.eventsOfRows, segments, records },
    });
  }

  /** Tags again what an older key tagged of rows and events. @returns how many */
  async retagAll(): Promise<number> {
    return (await this.rows.retagAll()) + (await this.eventSeal.retagAll(this.eventModel));
  }

  /**
   * Removes the payloads that are past their time, some at once: each command must end before a server that is silent
   * for too long counts as gone.
   *
   * @returns how many
   */
  async removePayloads(now = sharedDate()): Promise<number> {
    const expired = { payload_expires_at: { $lt: now } };
    for (let removed = 0; ; ) {
      const some = await this.eventModel.find(expired, { account_id: 1 }).limit(IDS_AT_ONCE).lean();
      if (some.length === 0) return removed;
      const needed = await this.withOpenDeliveries(some);
      const ids = some.map(({ _id }) => _id);
      const gone = ids.filter((id) => !needed.has(id));
      const { modifiedCount } = await this.eventModel.updateMany(
        { ...expired, _id: { $in: gone } },
        { $unset: { sealed: 1, payload_expires_at: 1 } },
      );
      removed += modifiedCount;
      if (needed.size > 0)
        await this.eventModel.updateMany(
          { ...expired, _id: { $in: [...needed] } },
          { $set: { payload_expires_at: new Date(now.getTime() + POSTPONED_MS) } },
        );
    }
  }

  /** The ids of those of some events with a delivery that is open. */
  private async withOpenDeliveries(
    events: readonly { _id: string; account_id: string }[],
  ): Promise<Set<string>> {
    const open = new Set<string>();
    for (const [account_id, some] of groupedBy(events, (event) => event.account_id)) {
      const ids = some.map(({ _id }) => _id);
      const condition = { account_id, event_id: { $in: ids }, position: { $gte: FIRST_OPEN_POSITION } };
      for (const { event_id } of await this.deliveryModel.find(condition, { event_id: 1 }).lean())
        open.add(event_id);
    }
    return open;
  }
}
