import type { Connection } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import type { ArchivedDelivery, ArchiveReads } from '../../domain/archive/archived.js';
import { type RecordKey, type RecordSalts, saltPurposes } from '../../domain/archive/commitments.js';
import type { KeptDays } from '../../domain/archive/kept-days.js';
import {
  type ArchiveWrites,
  type EventToArchive,
  LOOKED_AT_AGAIN_MS,
  type SealedEvent,
  type SecondLook,
} from '../../domain/archive/to-archive.js';
import type { PayloadContext } from '../../domain/privacy/payload-sealer.js';
import { sharedDate, sharedNow } from '../../domain/time/shared-time.js';
import { EventSeal, retagEvents } from '../event/event-document.js';
import { states } from './archive-documents.js';
import { ArchiveReader, type ReaderSources } from './archive-reader.js';
import { DeliveryWriter } from './delivery-writer.js';
import { RowTags } from './row-tags.js';

const DAY_MS = 24 * 3_600_000;
/** Ids in one query. */
const IDS_AT_ONCE = 500;
/** The document of the state. */
const STATE = 'archive';

/** How long archived deliveries are kept, and how long the payloads of their events. */
export interface ArchiveRetention {
  records: KeptDays;
  payloads: KeptDays;
  /** How long Temporal keeps what is closed, days; absent: it is not known. */
  ledgerDays?: number;
}

/** Closed deliveries and their events, for as long as the operator keeps them. */
export class ArchiveRepository extends ArchiveReader implements ArchiveReads, ArchiveWrites {
  private readonly state: ReturnType<typeof states>;
  private readonly retention: ArchiveRetention;
  private readonly box: SecretBox | undefined;
  readonly rows: DeliveryWriter;

  /** @param box tags what is written */
  constructor(
    connection: Connection,
    retention: ArchiveRetention,
    sources: ReaderSources,
    box: SecretBox | undefined,
  ) {
    super(connection, sources, new RowTags(box), new EventSeal(box));
    this.state = states(connection);
    this.box = box;
    this.retention = retention;
    this.rows = new DeliveryWriter(connection, new RowTags(box), sources, retention.records);
  }

  /** Tags again what an older key tagged of rows and events. @returns how many */
  async retagAll(): Promise<number> {
    return (await this.rows.retagAll()) + (await retagEvents(this.eventModel, this.box));
  }

  /** Executions that closed before this have been archived; `undefined` if none has. */
  async upTo(): Promise<Date | undefined> {
    return (await this.state.findOne({ _id: STATE }).lean())?.up_to ?? undefined;
  }

  async secondLook(): Promise<SecondLook | undefined> {
    return (await this.state.findOne({ _id: STATE }).lean())?.second_look ?? undefined;
  }

  async setSecondLook({ from, to, at }: SecondLook): Promise<void> {
    await this.state.updateOne({ _id: STATE }, { $set: { second_look: { from, to, at } } }, { upsert: true });
  }

  async completeUntil(): Promise<Date | undefined> {
    const { ledgerDays } = this.retention;
    // What the archive has removed already, Temporal may have.
    if (ledgerDays === undefined || !this.outlastsLedger()) return undefined;
    const { up_to, outlasts_since } = (await this.state.findOne({ _id: STATE }).lean()) ?? {};
    if (!up_to || !outlasts_since || outlasts_since.getTime() > sharedNow() - ledgerDays * DAY_MS)
      return undefined;
    return new Date(up_to.getTime() - LOOKED_AT_AGAIN_MS);
  }

  /**
   * Whether everything that is archived now is kept for as long as Temporal keeps it; `undefined` if this process does
   * not know.
   */
  private outlastsLedger(): boolean | undefined {
    const { records, ledgerDays } = this.retention;
    return ledgerDays === undefined ? undefined : records.least >= ledgerDays;
  }

  /** Records how far the archive is. It never goes back, whoever is late. */
  async advance(upTo: Date): Promise<void> {
    const state = { _id: STATE };
    const outlasts = this.outlastsLedger();
    const update = {
      $max: { up_to: upTo },
      // Before the first run, nothing can have been removed.
      ...(outlasts && { $setOnInsert: { outlasts_since: new Date(0) } }),
      ...(outlasts === false && { $unset: { outlasts_since: 1 } }),
    };
    await this.state.updateOne(state, update, { upsert: true });
    if (outlasts)
      await this.state.updateOne(
        { ...state, outlasts_since: null },
        { $set: { outlasts_since: sharedDate() } },
      );
  }

  /** What deliveries need of their events, which are kept at least as long as the last of them from now on. */
  async keepEvents(events: readonly EventToArchive[]): Promise<Map<string, SealedEvent>> {
    if (events.length === 0) return new Map();
    const found = await this.eventModel
      .find({ _id: { $in: events.map(({ id }) => id) } }, { commitment: 1, key: 1, expires_at: 1 })
      .lean();
    const kept = new Map(found.map((event) => [event._id, event]));
    const shorter = events.flatMap((event) => {
      const expires_at = this.expiryOf(event, event.closed_at);
      const isShorter = (kept.get(event.id)?.expires_at ?? expires_at) < expires_at;
      return isShorter
        ? [{ updateOne: { filter: { _id: event.id }, update: { $max: { expires_at } } } }]
        : [];
    });
    if (shorter.length > 0) await this.eventModel.bulkWrite(shorter, { ordered: false });
    return new Map(found.map(({ _id, commitment, key }) => [_id, { commitment, key }]));
  }

  async saltsOf(event: PayloadContext, key: string, record: RecordKey): Promise<RecordSalts | undefined> {
    const purposes = saltPurposes(record);
    const [details, view] = await Promise.all(
      [purposes.details, purposes.view].map((purpose) => this.sealer.salt(event, key, purpose)),
    );
    return details && view && { details, view };
  }

  private expiryOf(
    { account_id, event_kind }: Pick<ArchivedDelivery, 'account_id' | 'event_kind'>,
    closed: Date,
  ): Date {
    return new Date(closed.getTime() + this.retention.records.days(account_id, event_kind) * DAY_MS);
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
      const some = await this.eventModel.find(expired, { _id: 1 }).limit(IDS_AT_ONCE).lean();
      if (some.length === 0) return removed;
      const { modifiedCount } = await this.eventModel.updateMany(
        { ...expired, _id: { $in: some.map(({ _id }) => _id) } },
        { $unset: { sealed: 1, payload_expires_at: 1 } },
      );
      removed += modifiedCount;
    }
  }
}
