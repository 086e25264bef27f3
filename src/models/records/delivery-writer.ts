import type { Connection } from 'mongoose';
import { inParts } from '../../domain/basics/bounded-memory.js';
import { UNITS } from '../../domain/basics/duration.js';
import { newId } from '../../domain/basics/ids.js';
import type { PayloadContext, PayloadSealer } from '../../domain/privacy/payload-sealer.js';
import { type RecordKey, type RecordSalts, saltPurposes } from '../../domain/records/commitments.js';
import type { KeptDays } from '../../domain/records/kept-days.js';
import type { DeliveryRow } from '../../domain/records/stored.js';
import { summaryIn, wholeIn } from '../../domain/records/stored-views.js';
import type { EventForRows, KnownRow, RowStore, RowToWrite } from '../../domain/records/told.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import { storedKeys } from '../event/event-document.js';
import { MAX_RECORDS, nameOf, type SegmentRepository } from '../log/segments.js';
import { driverCollection, withoutNulls } from '../mongo/collection.js';
import { insertMissing } from '../mongo/insert-missing.js';
import type { EventsOfRows } from './events-of-rows.js';
import { type DeliveryDocument, deliveries, type ListedDocument, UNLISTED } from './row-documents.js';
import type { RowTags } from './row-tags.js';
import { sumOf, type UnalteredReader } from './unaltered.js';

/** Ids in one query. */
const IDS_AT_ONCE = 500;

/** Dependencies of the writer of rows. */
export interface WriterOptions {
  tags: RowTags;
  reader: UnalteredReader;
  sealer: PayloadSealer;
  events: Pick<EventsOfRows, 'of'>;
  segments: SegmentRepository;
  /** How long rows are kept from their close on. */
  records: KeptDays;
}

/**
 * Writes rows of deliveries, and the segments that have the log take their records.
 *
 * A row is written before its segment, so no leaf is without a record; and it names its segment, so a reader that finds
 * a closed row without its segment ({@link adopt}) knows that its record is not in the log.
 * docs/decisions/0061-segments.md says why this holds when processes are killed, frozen or doubled.
 */
export class DeliveryWriter implements RowStore {
  private readonly model: ReturnType<typeof deliveries>;
  private readonly options: WriterOptions;

  constructor(connection: Connection, options: WriterOptions) {
    this.model = deliveries(connection);
    this.options = options;
  }

  eventsOf(ids: readonly string[]): Promise<Map<string, EventForRows | Error>> {
    return this.options.events.of(ids);
  }

  async known(ids: readonly string[]): Promise<Map<string, KnownRow>> {
    const known = new Map<string, KnownRow>();
    for (const $in of inParts(ids, IDS_AT_ONCE)) {
      const documents = await this.model.find({ _id: { $in } }).lean();
      const opened = await this.options.reader.opened(documents);
      for (const [at, { recorded, altered }] of opened.entries()) {
        const { _id, tag, revision, run_id, turn, record, segment } = documents[at] as DeliveryDocument;
        known.set(_id, {
          ...{ id: _id, run_id, turn, revision, tag, isClosed: typeof record === 'string' },
          workflow_id: altered ? '' : summaryIn(recorded).workflow_id,
          ...(!altered && { whole: wholeIn(recorded) }),
          ...withoutNulls({ segment }),
        });
      }
    }
    return known;
  }

  async saltsOf(event: PayloadContext, key: string, record: RecordKey): Promise<RecordSalts | undefined> {
    const purposes = saltPurposes(record);
    const [details, view] = await Promise.all(
      [purposes.details, purposes.view].map((purpose) => this.options.sealer.salt(event, key, purpose)),
    );
    return details && view && { details, view };
  }

  async write(some: readonly RowToWrite[]): Promise<Set<string>> {
    const lost = new Set<string>();
    for (const together of inParts(some, MAX_RECORDS)) {
      const segment = newId('segment');
      const rows = await Promise.all(together.map(({ row }) => this.toStored(row, segment)));
      const first = rows.filter((_, at) => together[at]?.before === undefined);
      for (const at of await insertMissing(this.model, first)) lost.add(first[at]?._id ?? '');
      const others = rows.flatMap((row, at) => {
        const before = together[at]?.before;
        return before === undefined ? [] : [{ row, before }];
      });
      for (const id of await this.replace(others)) lost.add(id);
      const closed = rows.flatMap((row, at) =>
        row.segment && !lost.has(row._id) ? { ...toNamed(row), isRetold: together[at]?.isRetold } : [],
      );
      if (closed.length > 0) await this.options.segments.insert(closed, segment);
    }
    return lost;
  }

  /** @returns ids of those that somebody else has replaced meanwhile */
  private async replace(some: readonly { row: DeliveryDocument; before: string }[]): Promise<string[]> {
    if (some.length === 0) return [];
    const writes = some.map(({ row, before }) => {
      const { _id, ...replacement } = row;
      return { replaceOne: { filter: { _id, tag: before }, replacement } };
    });
    const { matchedCount } = await driverCollection(this.model).bulkWrite(writes, { ordered: false });
    if (matchedCount === some.length) return [];
    const ids = some.map(({ row }) => row._id);
    const found = await this.model.find({ _id: { $in: ids } }, { tag: 1 }).lean();
    const tags = new Map(found.map(({ _id, tag }) => [_id, tag]));
    return some.flatMap(({ row }) => (tags.get(row._id) === row.tag ? [] : row._id));
  }

  async adopt(some: readonly { id: string; segment: string }[]): Promise<boolean> {
    let isAny = false;
    for (const together of inParts(some, IDS_AT_ONCE)) {
      const existing = await this.options.segments.existing(together.map(({ segment }) => segment));
      const lost = together.filter(({ segment }) => !existing.has(segment));
      if (lost.length > 0 && (await this.adoptLost(lost))) isAny = true;
    }
    return isAny;
  }

  private async adoptLost(lost: readonly { id: string; segment: string }[]): Promise<boolean> {
    const { tags, segments } = this.options;
    const before = new Map(lost.map(({ id, segment }) => [id, segment]));
    const rows = await this.model
      .find({ _id: { $in: [...before.keys()] } }, UNLISTED)
      .lean<ListedDocument[]>();
    const orphans = rows.filter(
      (row) => before.get(row._id) === row.segment && tags.whatIsWrong(row) === undefined,
    );
    const segment = newId('segment');
    await this.rewrite(orphans, (row) => ({ ...row, segment }));
    const ids = orphans.map(({ _id }) => _id);
    const own = await this.model.find({ _id: { $in: ids }, segment }, { _id: 1 }).lean();
    const mine = new Set(own.map(({ _id }) => _id));
    // The records that were looked at, whatever stands there by now.
    const adopted = orphans.filter(({ _id }) => mine.has(_id));
    if (adopted.length > 0) await segments.insert(adopted.map(toNamed), segment);
    return adopted.length > 0;
  }

  /** Tags again what an older key tagged. @returns how many */
  retagAll(): Promise<number> {
    return this.options.tags.retagAll(this.model);
  }

  /** Writes another segment for rows, those that are still as they were read. */
  private async rewrite(
    rows: readonly ListedDocument[],
    change: (row: ListedDocument) => ListedDocument,
  ): Promise<void> {
    if (rows.length === 0) return;
    const updates = rows.map((row) => {
      const { segment, tag } = this.options.tags.tagged(change(row));
      return { updateOne: { filter: { _id: row._id, tag: row.tag }, update: { $set: { segment, tag } } } };
    });
    await this.model.bulkWrite(updates, { ordered: false });
  }

  private async toStored(
    { id, keys, error_code, status_code, key, results, longest_ms, ...delivery }: RowToWrite['row'],
    segment: string,
  ): Promise<DeliveryDocument> {
    const { account_id: accountId, event_id: eventId, detail, timeline, record, ...rest } = delivery;
    const seal = async (text: string | undefined) =>
      text === undefined ? undefined : this.options.sealer.sealBeside({ accountId, eventId }, key, text);
    const [sealedDetail, sealedTimeline] = await Promise.all([seal(detail), seal(timeline)]);
    return this.options.tags.tagged({
      _id: id,
      ...rest,
      account_id: accountId,
      event_id: eventId,
      ...storedKeys(keys),
      ...withoutNulls({ error_code, status_code, results, longest_ms, record }),
      ...withoutNulls({ detail: sealedDetail, timeline: sealedTimeline }),
      kept_at: sharedDate(),
      ...(record === undefined
        ? { sum: sumOf(sealedDetail, sealedTimeline) }
        : { expires_at: this.expiryOf(delivery), segment }),
    });
  }

  private expiryOf({
    account_id,
    event_kind,
    summary,
  }: Pick<DeliveryRow, 'account_id' | 'event_kind' | 'summary'>): Date {
    const { closed_at } = summaryIn({ summary });
    const days = this.options.records.days(account_id, event_kind);
    return new Date(Date.parse(closed_at ?? '') + days * UNITS.d);
  }
}

/** The record of a closed row, as a segment names it. */
function toNamed({ _id: id, revision, record }: Pick<DeliveryDocument, '_id' | 'revision' | 'record'>) {
  return { name: nameOf({ id, revision }), record: record ?? '' };
}
