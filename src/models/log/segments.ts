import type { Connection } from 'mongoose';
import { leafHash } from '../../../packages/tlog/src/index.js';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { inParts } from '../../domain/basics/bounded-memory.js';
import { idsBeginAt, newId } from '../../domain/basics/ids.js';
import { type ClosedUsage, closedUsage } from '../../domain/stats/usage.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import { collection, type DocumentIn, may, must, repositoryOf } from '../mongo/collection.js';
import { inOnePass, inOrder } from '../mongo/in-order.js';
import { Tags, textOf } from '../mongo/tags.js';
import { bytesOf, splitHashes } from './log-tiles.js';

/** Records in one segment at most: as many as the log looks for, when one is taken again, are several of these. */
export const MAX_RECORDS = 1_000;
/** In the place of a number: the log has not taken it, as far as MongoDB says. A filter finds it by its index. */
const UNLOGGED = -1;
/** Ids in one query. */
const IDS_AT_ONCE = 500;

/** Records that were made together. A segment is kept for ever, as leaves are, so that each leaf is accounted for. */
const segments = collection('segments', {
  _id: must(String),
  /** Names of its records, in order. */
  records: must<string[]>([String]),
  /** Their leaf hashes, one after the other. */
  hashes: must<Buffer>(Buffer),
  at: must(Date),
  /** Closed deliveries among them, by account. */
  usage: may<ClosedUsage[]>([{ _id: false, account_id: String, deliveries: Number, attempts: Number }]),
  /** Tag of all other fields. */
  tag: must(String),
  /** Number of its first leaf in the log, or -1. A reader that relies on it compares the leaves. */
  first: must(Number, { index: true }),
});
type SegmentDocument = DocumentIn<typeof segments>;

/** A record as segments name it. */
export interface NamedRecord {
  /** Id and revision of a delivery ({@link nameOf}), id of a change, or account and first number of void numbers. */
  name: string;
  /** Its canonical text. */
  record: string;
  /** An earlier record is of the same close: usage has it already. */
  isRetold?: boolean | undefined;
}

/** Records that were made together, in the order of their leaves. */
export interface Segment {
  id: string;
  records: readonly string[];
  /** Hashes of the leaves; as many as there are records, unless the segment was altered. */
  hashes: readonly Buffer[];
  /** When it was made: its records were kept before that. */
  at: Date;
  /** Number of its first leaf; absent as long as the log has not taken it. */
  first: number | undefined;
  /** Difference from what was written; absent if there is none. Nothing of it is to be believed. */
  wrong: string | undefined;
}

/** The name of the record of a delivery in a segment. */
export function nameOf({ id, revision }: { id: string; revision: number }): string {
  return `${id}/${revision}`;
}

/** The delivery and revision that a name is of; `undefined` if it is of something else. */
export function deliveryNamed(name: string): { id: string; revision: number } | undefined {
  const [, id, revision] = /^(dlv_\w+)\/(\d+)$/.exec(name) ?? [];
  return id === undefined ? undefined : { id, revision: Number(revision) };
}

/** Number of a record's leaf; `undefined` if the segment does not name it, or the log has not taken it yet. */
export function leafIn({ records, first }: Segment, name: string): number | undefined {
  const place = records.indexOf(name);
  return place < 0 || first === undefined ? undefined : first + place;
}

/** The segments of the log: see docs/decisions/0061-segments.md. */
export class SegmentRepository extends repositoryOf(segments) {
  private readonly tags: Tags<SegmentDocument>;

  /** @param box tags what is written; absent: nothing can be written, nor believed */
  constructor(connection: Connection, box: SecretBox | undefined) {
    super(connection);
    this.tags = new Tags(box, 'segment', segments, contentOfSegment);
  }

  /** Makes a segment of records that are kept already. @param id absent: a new one @returns it */
  async insert(records: readonly NamedRecord[], id = newId('segment')): Promise<Segment> {
    const hashes = records.map(({ record }) => leafHash(record));
    const document = {
      _id: id,
      records: records.map(({ name }) => name),
      hashes: Buffer.concat(hashes),
      at: sharedDate(),
      usage: closedUsage(records.filter(({ isRetold }) => !isRetold).map(({ record }) => record)),
    };
    const { _id, ...fields } = {
      ...document,
      tag: this.tags.tag({ ...document, first: UNLOGGED }),
      first: UNLOGGED,
    };
    await this.model.collection.insertOne({ _id: _id as never, ...fields });
    return { id, records: document.records, hashes, at: document.at, first: undefined, wrong: undefined };
  }

  /** Those that there are, by id. */
  async find(ids: readonly string[]): Promise<Map<string, Segment>> {
    const found = new Map<string, Segment>();
    for (const $in of inParts([...new Set(ids)], IDS_AT_ONCE))
      for (const document of await this.model.find({ _id: { $in } }).lean())
        found.set(document._id, this.toSegment(document));
    return found;
  }

  /** The ids of those that there are. */
  async existing(ids: readonly string[]): Promise<Set<string>> {
    const existing = new Set<string>();
    for (const $in of inParts([...new Set(ids)], IDS_AT_ONCE))
      for (const { _id } of await this.model.find({ _id: { $in } }, { _id: 1 }).lean()) existing.add(_id);
    return existing;
  }

  /** Those that say that the log has not taken them, some at once, in any order. */
  unlogged(): AsyncIterable<Segment[]> {
    return this.read({ first: UNLOGGED });
  }

  /** How many the log has not taken. */
  async waiting(): Promise<number> {
    return this.model.countDocuments({ first: UNLOGGED });
  }

  /** Notes which leaves the log has of a segment: the first one does it. */
  async logged({ id }: Pick<Segment, 'id'>, first: number): Promise<void> {
    await this.model.updateOne({ _id: id, first: UNLOGGED }, { $set: { first } });
  }

  /** Deliveries that were closed, by account, in segments of a time. Milliseconds since the epoch. */
  async *usageBetween(from: number, to: number): AsyncIterable<ClosedUsage> {
    const end = idsBeginAt('segment', to);
    const find = (id: { $gt: string }) => this.model.find({ _id: { ...id, $lt: end } });
    for await (const some of inOrder(find, idsBeginAt('segment', from)))
      for (const document of some) if (!this.toSegment(document).wrong) yield* document.usage ?? [];
  }

  /** All, in one pass, some at once. */
  all(): AsyncIterable<Segment[]> {
    return this.read({});
  }

  private async *read(filter: Partial<SegmentDocument>): AsyncIterable<Segment[]> {
    for await (const some of inOnePass<SegmentDocument>(this.model.find(filter)))
      yield some.map((one) => this.toSegment(one));
  }

  /** Tags again what an older key tagged. @returns how many */
  retagAll(): Promise<number> {
    return this.tags.retagEach(this.model);
  }

  private toSegment(stored: SegmentDocument): Segment {
    const { document, wrong } = this.tags.read(stored);
    const { _id: id, records, at, first } = document;
    const isLogged = Number.isSafeInteger(first) && first >= 0;
    const known = { id, first: isLogged ? first : undefined };
    if (wrong !== undefined) return { ...known, records: [], hashes: [], at: new Date(0), wrong };
    return { ...known, records, hashes: splitHashes(bytesOf(document.hashes) ?? Buffer.alloc(0)), at, wrong };
  }
}

export function contentOfSegment({
  _id,
  records,
  hashes,
  at,
  usage,
}: Omit<SegmentDocument, 'tag' | 'first'>): string {
  const counted = (usage ?? []).flatMap((one) => [one.account_id, one.deliveries, one.attempts]);
  return textOf([_id, records, bytesOf(hashes)?.toString('base64'), at, ...counted]);
}
