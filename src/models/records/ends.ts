import { randomBytes } from 'node:crypto';
import type { Connection } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { UNITS } from '../../domain/basics/duration.js';
import {
  type End,
  type EndNotice,
  MAX_ENDS_TOLD,
  type UnannouncedEnds,
} from '../../domain/delivery/end-notice.js';
import { recordedTime } from '../../domain/time/recorded-time.js';
import { sharedDate, sharedNow } from '../../domain/time/shared-time.js';
import { collection, type DocumentIn, may, must, repositoryOf } from '../mongo/collection.js';
import { inOnePass } from '../mongo/in-order.js';
import { insertMissing } from '../mongo/insert-missing.js';
import { Tags, textOf } from '../mongo/tags.js';

/** Stands in the place of a notice once it was told. */
const TOLD = '';
/** An end that was told is remembered for so long, milliseconds: after a crash it is noted once more, with the row. */
const REMEMBERED_MS = UNITS.h;

const ends = collection(
  'unannounced_ends',
  {
    /** Delivery and run, so that an end that is noted twice is told once. */
    _id: must(String),
    account_id: must(String),
    endpoint_id: must(String),
    kind: must<End['kind']>(String),
    delivery_id: must(String),
    event_id: must(String),
    event_kind: must(String),
    closed_at: must(Date),
    run_id: must(String),
    /** The notice that tells of it, and when it was put together; absent before that. */
    notice: may(String, { index: true }),
    notice_at: may(Date),
    /** Tag of all these fields until the end was told. Nothing of it is believed afterwards. */
    tag: must(String),
    /** How long what was told is remembered. */
    forgotten_at: may(Date, { expires: 0 }),
  },
  { indexes: [{ account_id: 1, endpoint_id: 1, kind: 1, notice: 1 }] },
);
type EndDocument = DocumentIn<typeof ends>;

/**
 * Deliveries that have ended without success and that their accounts have not been told of. Each is tagged: an event
 * tells of it, which is signed.
 */
export class EndRepository extends repositoryOf(ends) implements UnannouncedEnds {
  private readonly tags: Tags<EndDocument>;

  constructor(connection: Connection, box: SecretBox | undefined) {
    super(connection);
    this.tags = new Tags(box, 'end', ends, contentOfEnd);
  }

  async note(some: readonly End[]): Promise<void> {
    if (some.length === 0) return;
    await insertMissing(
      this.model,
      some.map((end) => this.tagged({ _id: idOf(end), ...end })),
    );
  }

  async withdraw(some: readonly End[]): Promise<void> {
    await this.model.deleteMany({ _id: { $in: some.map(idOf) }, notice: null });
  }

  /**
   * The next notice: one that was put together before, so that a repeat after a crash sends the same; `undefined` if
   * nothing is left. Ends that are not as they were noted stay where they are.
   */
  async next(): Promise<EndNotice | undefined> {
    const [begun] = await this.unaltered({ notice: { $gt: TOLD } }, 1);
    if (begun?.notice) return this.noticeOf(begun.notice);
    const [first] = await this.unaltered({ notice: null }, 1);
    if (!first) return undefined;
    const { account_id, endpoint_id, kind } = first;
    const together = await this.unaltered({ account_id, endpoint_id, kind, notice: null }, MAX_ENDS_TOLD);
    const noticed = { notice: randomBytes(12).toString('hex'), notice_at: sharedDate() };
    await this.model.bulkWrite(
      together.map((end) => ({
        updateOne: {
          // If two runs do this at once, only one reports it.
          filter: { _id: end._id, notice: null },
          update: { $set: { ...noticed, tag: this.tagged({ ...end, ...noticed }).tag } },
        },
      })),
      { ordered: false },
    );
    return this.noticeOf(noticed.notice);
  }

  /** The first ends that meet a filter and are as they were noted. */
  private async unaltered(filter: object, limit: number): Promise<EndDocument[]> {
    const found: EndDocument[] = [];
    for await (const some of inOnePass<EndDocument>(this.model.find(filter))) {
      found.push(...some.flatMap((end) => this.tags.believed(end) ?? []));
      if (found.length >= limit) break;
    }
    return found.slice(0, limit);
  }

  private async noticeOf(notice: string): Promise<EndNotice | undefined> {
    const told = await this.unaltered({ notice }, MAX_ENDS_TOLD);
    const [first] = told;
    if (!first) return undefined;
    const { account_id, endpoint_id, kind, notice_at } = first;
    return {
      name: notice,
      at: recordedTime(notice_at ?? new Date(0)),
      account_id,
      endpoint_id,
      kind,
      ends: told,
    };
  }

  async told({ name }: EndNotice): Promise<void> {
    const forgotten_at = new Date(sharedNow() + REMEMBERED_MS);
    await this.model.updateMany({ notice: name }, { $set: { notice: TOLD, forgotten_at } });
  }

  /** Those that are to be told and are not as they were noted, and how. */
  async *altered(): AsyncIterable<{ id: string; wrong: string }> {
    for await (const some of inOnePass<EndDocument>(this.model.find({ notice: { $ne: TOLD } })))
      for (const end of some) {
        const wrong = this.tags.whatIsWrong(end);
        if (wrong !== undefined) yield { id: end._id, wrong };
      }
  }

  /** Tags again what an older key tagged. @returns how many */
  retagAll(): Promise<number> {
    return this.tags.retagEach(this.model);
  }

  private tagged(end: Omit<EndDocument, 'tag'>): EndDocument {
    return { ...end, tag: this.tags.tag(end) };
  }
}

/** All that is believed of an end that is to be told. */
export function contentOfEnd(end: Omit<EndDocument, 'tag'>): string {
  const { _id, account_id, endpoint_id, kind, delivery_id, event_id, event_kind, closed_at, run_id } = end;
  const { notice, notice_at } = end;
  return textOf([
    ...[_id, account_id, endpoint_id, kind, delivery_id, event_id, event_kind, closed_at, run_id],
    ...[notice, notice_at],
  ]);
}

function idOf({ delivery_id, run_id }: End): string {
  return `${delivery_id}:${run_id}`;
}
