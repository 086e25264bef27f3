import type { Connection } from 'mongoose';
import { type ArchivedDelivery, closedAt } from '../../domain/archive/archived.js';
import type { KeptDays } from '../../domain/archive/kept-days.js';
import type {
  DeliveryToKeep,
  KeptRun,
  RowWrites,
  RunKey,
  SealableDelivery,
} from '../../domain/archive/to-archive.js';
import { inParts } from '../../domain/basics/bounded-memory.js';
import { newId } from '../../domain/basics/ids.js';
import type { PayloadSealer } from '../../domain/privacy/payload-sealer.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import { storedKeys } from '../event/event-document.js';
import { MAX_RECORDS, nameOf, type SegmentRepository } from '../log/segments.js';
import { withoutNulls } from '../mongo/collection.js';
import { inOnePass } from '../mongo/in-order.js';
import { insertMissing } from '../mongo/insert-missing.js';
import { type DeliveryDocument, deliveries, type ListedDocument, UNLISTED } from './archive-documents.js';
import type { RowTags } from './row-tags.js';

const DAY_MS = 24 * 3_600_000;
/** Ids in one query. */
const IDS_AT_ONCE = 500;

/**
 * Writes rows of closed deliveries, and the segments that have the log take their records.
 *
 * A row is written before its segment, so no leaf is without a record; and it names its segment, so whoever finds a row
 * whose segment is not there ({@link adopt}) knows that its record is not in the log. What keeps that right whatever is
 * killed, frozen or doubled is told in docs/decisions/0061-segments.md.
 */
export class DeliveryWriter implements RowWrites {
  private readonly model: ReturnType<typeof deliveries>;
  private readonly tags: RowTags;
  private readonly sealer: PayloadSealer;
  private readonly segments: SegmentRepository;
  private readonly records: KeptDays;

  /** @param records how long rows are kept */
  constructor(
    connection: Connection,
    tags: RowTags,
    { sealer, segments }: { sealer: PayloadSealer; segments: SegmentRepository },
    records: KeptDays,
  ) {
    this.model = deliveries(connection);
    this.tags = tags;
    this.sealer = sealer;
    this.segments = segments;
    this.records = records;
  }

  /** What is kept of some deliveries, by id. */
  async known(ids: readonly string[]): Promise<Map<string, KeptRun>> {
    const known = new Map<string, KeptRun>();
    for (const $in of inParts(ids, IDS_AT_ONCE)) {
      const found = await this.model
        .find({ _id: { $in } }, { run_id: 1, run_order: 1, revision: 1, position: 1, segment: 1 })
        .lean();
      for (const { _id: id, ...run } of found) known.set(id, { id, ...run });
    }
    return known;
  }

  /**
   * Keeps rows and makes a segment of them: of those that nobody else has kept, or replaced, meanwhile.
   */
  async keep(some: readonly DeliveryToKeep[]): Promise<void> {
    for (const together of inParts(some, MAX_RECORDS)) {
      const segment = newId('segment');
      const rows = await Promise.all(together.map(({ delivery }) => this.toStored(delivery, segment)));
      const first = rows.filter((_, at) => !together[at]?.before);
      const taken = new Set(await insertMissing(this.model, first));
      const kept = new Set(first.filter((_, at) => !taken.has(at)));
      for (const [at, row] of rows.entries()) {
        const before = together[at]?.before;
        if (before && (await this.replace(row, before))) kept.add(row);
      }
      if (kept.size > 0) await this.segments.insert([...kept].map(toNamed), segment);
    }
  }

  /** @returns whether nobody else has done that meanwhile */
  private async replace({ _id, ...row }: DeliveryDocument, before: KeptRun): Promise<boolean> {
    const { revision, segment } = before;
    const { matchedCount } = await this.model.collection.replaceOne(
      { _id: _id as never, revision, segment },
      row,
    );
    return matchedCount > 0;
  }

  /**
   * Makes a segment of those of some rows whose own is not there: whoever kept them was killed, is stopped, or has not
   * come so far. What somebody has altered meanwhile is left out.
   *
   * @returns whether there were any
   */
  async adopt(some: readonly Pick<KeptRun, 'id' | 'segment'>[]): Promise<boolean> {
    let isAny = false;
    for (const together of inParts(some, IDS_AT_ONCE)) {
      const existing = await this.segments.existing(together.map(({ segment }) => segment));
      const lost = together.filter(({ segment }) => !existing.has(segment));
      if (lost.length > 0 && (await this.adoptLost(lost))) isAny = true;
    }
    return isAny;
  }

  private async adoptLost(lost: readonly Pick<KeptRun, 'id' | 'segment'>[]): Promise<boolean> {
    const before = new Map(lost.map(({ id, segment }) => [id, segment]));
    const rows = await this.model
      .find({ _id: { $in: [...before.keys()] } }, UNLISTED)
      .lean<ListedDocument[]>();
    const orphans = rows.filter(
      (row) => before.get(row._id) === row.segment && this.tags.whatIsWrong(row) === undefined,
    );
    const segment = newId('segment');
    await this.rewrite(orphans, (row) => ({ ...row, segment }));
    const ids = orphans.map(({ _id }) => _id);
    const own = await this.model.find({ _id: { $in: ids }, segment }, { _id: 1 }).lean();
    const mine = new Set(own.map(({ _id }) => _id));
    // The records that were looked at, whatever stands there by now.
    const adopted = orphans.filter(({ _id }) => mine.has(_id));
    if (adopted.length > 0) await this.segments.insert(adopted.map(toNamed), segment);
    return adopted.length > 0;
  }

  /** Does that for all rows: it reads the whole archive. */
  async adoptAll(): Promise<void> {
    for await (const some of inOnePass(this.model.find({}, { segment: 1 })))
      await this.adopt(some.map(({ _id: id, segment }) => ({ id, segment })));
  }

  /** Moves deliveries in lists: their group has closed, which was open when they were archived. */
  async move(runs: readonly RunKey[]): Promise<void> {
    const positions = new Map(runs.map((run) => [`${run.id} ${run.run_id}`, run.position]));
    for (const some of inParts(runs, IDS_AT_ONCE)) {
      const rows = await this.model
        .find({ _id: { $in: some.map(({ id }) => id) } }, UNLISTED)
        .lean<ListedDocument[]>();
      const positionOf = (row: ListedDocument) => positions.get(`${row._id} ${row.run_id}`) ?? row.position;
      const moved = rows.filter(
        (row) => this.tags.whatIsWrong(row) === undefined && positionOf(row) !== row.position,
      );
      await this.rewrite(moved, (row) => ({ ...row, position: positionOf(row) }));
    }
  }

  /** Tags again what an older key tagged. @returns how many */
  retagAll(): Promise<number> {
    return this.tags.retagAll(this.model);
  }

  /** Writes other values for segment and position of rows, those that are still as they were read. */
  private async rewrite(
    rows: readonly ListedDocument[],
    change: (row: ListedDocument) => ListedDocument,
  ): Promise<void> {
    if (rows.length === 0) return;
    const updates = rows.map((row) => {
      const { segment, position, tag } = this.tags.tagged(change(row));
      return {
        updateOne: { filter: { _id: row._id, tag: row.tag }, update: { $set: { segment, position, tag } } },
      };
    });
    await this.model.bulkWrite(updates, { ordered: false });
  }

  private async toStored(
    { id, keys, error_code, status_code, key, results, longest_ms, ...delivery }: SealableDelivery,
    segment: string,
  ): Promise<DeliveryDocument> {
    const { account_id: accountId, event_id: eventId, detail, timeline, ...rest } = delivery;
    const seal = async (text: string | undefined) =>
      text === undefined ? undefined : this.sealer.sealBeside({ accountId, eventId }, key, text);
    const [sealedDetail, sealedTimeline] = await Promise.all([seal(detail), seal(timeline)]);
    return this.tags.tagged({
      _id: id,
      ...rest,
      account_id: accountId,
      event_id: eventId,
      ...storedKeys(keys),
      ...withoutNulls({ error_code, status_code, results, longest_ms }),
      ...withoutNulls({ detail: sealedDetail, timeline: sealedTimeline }),
      archived_at: sharedDate(),
      expires_at: this.expiryOf(delivery),
      segment,
    });
  }

  private expiryOf({
    account_id,
    event_kind,
    position,
  }: Pick<ArchivedDelivery, 'account_id' | 'event_kind' | 'position'>): Date {
    return new Date(closedAt(position).getTime() + this.records.days(account_id, event_kind) * DAY_MS);
  }
}

function toNamed({ _id: id, revision, record }: Pick<DeliveryDocument, '_id' | 'revision' | 'record'>) {
  return { name: nameOf({ id, revision }), record };
}
