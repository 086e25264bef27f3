import type { Connection } from 'mongoose';
import { type ArchivedDelivery, type ArchiveReads, closedAt } from '../../domain/archive/archived.js';
import { type RecordKey, type RecordSalts, saltPurposes } from '../../domain/archive/commitments.js';
import type { KeptDays } from '../../domain/archive/kept-days.js';
import {
  type ArchiveWrites,
  type EventToArchive,
  type KeptRecord,
  type KeptRun,
  LOOKED_AT_AGAIN_MS,
  type RunKey,
  type SealableDelivery,
  type SealedEvent,
  type SecondLook,
} from '../../domain/archive/to-archive.js';
import { inParts } from '../../domain/basics/bounded-memory.js';
import type { PayloadContext, PayloadSealer } from '../../domain/privacy/payload-sealer.js';
import { sharedDate, sharedNow } from '../../domain/time/shared-time.js';
import { type EventSeal, events, storedKeys } from '../event/event-document.js';
import { withoutNulls } from '../mongo/collection.js';
import { inOnePass } from '../mongo/in-order.js';
import { insertMissing } from '../mongo/insert-missing.js';
import { type DeliveryDocument, deliveries, states, UNLOGGED } from './archive-documents.js';
import { ArchiveReader } from './archive-reader.js';
import type { RecordLog } from './unaltered.js';

const DAY_MS = 24 * 3_600_000;
/** Ids in one query. */
const IDS_AT_ONCE = 500;
/** The document of the state. */
const STATE = 'archive';
/** Whole deliveries that are read at once: each may have megabytes. */
const WHOLE_AT_ONCE = 20;

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
  private readonly log: RecordLog;

  /**
   * @param sealer of what is kept besides the record
   * @param log takes every record once it is kept, so that none of its leaves is without a record
   */
  constructor(
    connection: Connection,
    retention: ArchiveRetention,
    sealer: PayloadSealer,
    log: RecordLog,
    eventSeal: EventSeal,
  ) {
    super(deliveries(connection), events(connection), sealer, log, eventSeal);
    this.state = states(connection);
    this.retention = retention;
    this.log = log;
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

  /** What is known of some deliveries, by id. */
  async known(ids: readonly string[]): Promise<Map<string, KeptRun>> {
    const known = new Map<string, KeptRun>();
    for (const $in of inParts(ids, IDS_AT_ONCE)) {
      const found = await this.deliveryModel
        .find({ _id: { $in } }, { run_id: 1, run_order: 1, revision: 1, position: 1, leaf_index: 1 })
        .lean();
      for (const { _id: id, leaf_index, ...run } of found)
        known.set(id, { id, ...run, isLogged: leaf_index !== UNLOGGED });
    }
    return known;
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

  /** Keeps deliveries that are not kept yet. One that somebody else has kept meanwhile stays as it is. */
  async addDeliveries(deliveries: readonly SealableDelivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    const documents = await Promise.all(
      deliveries.map(async (delivery) => ({ _id: delivery.id, ...(await this.toStored(delivery)) })),
    );
    await insertMissing(this.deliveryModel, documents);
  }

  /** Puts a later run of a delivery in the place of an earlier one, unless somebody else has done that meanwhile. */
  async replaceDelivery(delivery: SealableDelivery, before: KeptRun): Promise<void> {
    const { id: _id, error_code, status_code } = delivery;
    const place = await this.deliveryModel
      .findOne({ _id, revision: before.revision }, { leaf_index: 1 })
      .lean();
    if (!place) return;
    const { leaf_index } = place;
    const { matchedCount } = await this.deliveryModel.updateOne(
      { _id, revision: before.revision, leaf_index },
      {
        $set: await this.toStored(delivery),
        // Its leaf stays, without a record.
        ...(leaf_index !== UNLOGGED && { $push: { replaced_leaves: leaf_index } }),
        $unset: {
          ...(error_code === undefined && { error_code: 1 }),
          ...(status_code === undefined && { status_code: 1 }),
        },
      },
    );
    if (matchedCount > 0) await this.logKept([delivery]);
  }

  async logKept(kept: readonly KeptRecord[]): Promise<void> {
    const records = new Map(kept.map(({ id, record }) => [id, record]));
    for (const $in of inParts([...records.keys()], IDS_AT_ONCE)) {
      const unlogged = await this.deliveryModel
        .find({ _id: { $in }, leaf_index: UNLOGGED }, { record: 1, revision: 1 })
        .lean();
      // What another run has kept, that one gives to the log; and nobody else's is signed.
      await this.append(unlogged.filter((one) => one.record === records.get(one._id)));
    }
  }

  async logStored(ids: readonly string[]): Promise<void> {
    for (const $in of inParts(ids, WHOLE_AT_ONCE)) {
      const unlogged = await this.deliveryModel.find({ _id: { $in }, leaf_index: UNLOGGED }).lean();
      const opened = await this.unaltered.opened(
        unlogged,
        unlogged.map(() => undefined),
      );
      await this.append(unlogged.filter((_, at) => !opened[at]?.altered));
    }
  }

  async logAllStored(): Promise<void> {
    const unlogged = this.deliveryModel.find({ leaf_index: UNLOGGED }, { _id: 1 });
    for await (const some of inOnePass(unlogged)) await this.logStored(some.map(({ _id }) => _id));
  }

  /** Appends records to the log, and notes their numbers. */
  private async append(
    unlogged: readonly Pick<DeliveryDocument, '_id' | 'record' | 'revision'>[],
  ): Promise<void> {
    if (unlogged.length === 0) return;
    const numbers = await this.log.append(unlogged.map(({ record }) => record));
    const updates = unlogged.map(({ _id, revision }, at) => ({
      updateOne: {
        filter: { _id, revision, leaf_index: UNLOGGED },
        update: { $set: { leaf_index: numbers[at] ?? UNLOGGED } },
      },
    }));
    await this.deliveryModel.bulkWrite(updates, { ordered: false });
  }

  private async toStored({
    id: _,
    keys,
    error_code,
    status_code,
    key,
    ...delivery
  }: SealableDelivery): Promise<Omit<DeliveryDocument, '_id'>> {
    const { account_id: accountId, event_id: eventId, detail, timeline, ...rest } = delivery;
    const seal = async (text: string | undefined) =>
      text === undefined ? undefined : this.sealer.sealBeside({ accountId, eventId }, key, text);
    const [sealedDetail, sealedTimeline] = await Promise.all([seal(detail), seal(timeline)]);
    return {
      ...rest,
      account_id: accountId,
      event_id: eventId,
      ...storedKeys(keys),
      ...withoutNulls({ error_code, status_code, detail: sealedDetail, timeline: sealedTimeline }),
      archived_at: sharedDate(),
      expires_at: this.expiryOf(delivery, closedAt(delivery.position)),
      leaf_index: UNLOGGED,
    };
  }

  private expiryOf(
    { account_id, event_kind }: Pick<ArchivedDelivery, 'account_id' | 'event_kind'>,
    closed: Date,
  ): Date {
    return new Date(closed.getTime() + this.retention.records.days(account_id, event_kind) * DAY_MS);
  }

  /** Moves deliveries in lists: their group has closed, which was open when they were archived. */
  async move(runs: readonly RunKey[]): Promise<void> {
    if (runs.length === 0) return;
    await this.deliveryModel.bulkWrite(
      runs.map(({ id: _id, run_id, position }) => ({
        updateOne: { filter: { _id, run_id }, update: { $set: { position } } },
      })),
      { ordered: false },
    );
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
