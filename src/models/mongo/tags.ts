import type { Model, ProjectionType } from 'mongoose';
import { SealError, type SecretBox } from '../../domain/access/secret-box.js';
import { RecordAlteredError } from '../../domain/records/record-altered.js';
import { driverCollection } from './collection.js';
import { inOnePass } from './in-order.js';

/**
 * Tags of one kind of documents: with the database alone, nobody can write a correct one. A tag is of a text that says
 * all that is believed of the document, and stands in it from its first write on.
 */
export class Tags {
  private readonly box: SecretBox | undefined;
  private readonly purpose: string;

  /** @param purpose what the documents are, so that a tag of one kind is none of another */
  constructor(box: SecretBox | undefined, purpose: string) {
    this.box = box;
    this.purpose = purpose;
  }

  /** Whether there is a key. */
  get hasKey(): boolean {
    return this.box !== undefined;
  }

  /** @throws Error without HOOKLINE_SECRET_KEYS: nothing is written that nobody could believe later */
  tag(text: string): string {
    if (!this.box) throw new Error(`a ${this.purpose} cannot be tagged without HOOKLINE_SECRET_KEYS`);
    return this.box.tag(text, this.purpose);
  }

  /**
   * Difference of a document from what was written, the end of a sentence that begins with its id; `undefined` if there
   * is none.
   *
   * @param tag whatever stands in its place
   */
  whatIsWrong(tag: unknown, text: string): string | undefined {
    if (typeof tag !== 'string' || tag === '') return 'has no tag';
    if (!this.box) return 'cannot be checked without HOOKLINE_SECRET_KEYS';
    try {
      return this.box.isTagged(tag, text, this.purpose) ? undefined : 'is not what was written';
    } catch (error) {
      if (error instanceof SealError) return `has a tag that cannot be checked: ${error.message}`;
      throw error;
    }
  }

  /** @throws RecordAlteredError if a document is not as it was written */
  check({ _id, tag }: { _id: string; tag?: unknown }, text: string): void {
    const wrong = this.whatIsWrong(tag, text);
    if (wrong !== undefined) throw new RecordAlteredError(_id, wrong);
  }

  /**
   * Tags again, with the newest key, what an older key tagged, so that the older one can be dropped. Altered documents
   * stay as they are.
   *
   * @param textOf what the tag of a document is of @returns how many were tagged again
   */
  async retagEach<D extends { _id: string; tag?: string | null }>(
    model: Model<D>,
    textOf: (document: D) => string,
    fields: ProjectionType<D> = {},
  ): Promise<number> {
    let retagged = 0;
    for await (const some of inOnePass<D>(model.find({}, fields))) {
      const outdated = some.filter((document) => {
        const { tag } = document;
        return tag && this.box?.isOutdated(tag) && this.whatIsWrong(tag, textOf(document)) === undefined;
      });
      if (outdated.length === 0) continue;
      const updates = outdated.map((document) => ({
        // It may have been written meanwhile, with another tag.
        updateOne: {
          filter: { _id: document._id, tag: document.tag },
          update: { $set: { tag: this.tag(textOf(document)) } },
        },
      }));
      const collection = driverCollection(model);
      retagged += (await collection.bulkWrite(updates as never, { ordered: false })).modifiedCount;
    }
    return retagged;
  }
}

/** A text that says some values, each with its type: a time is not the text of it. Absent fields are `null`. */
export function textOf(values: readonly unknown[]): string {
  return JSON.stringify(values.flatMap((value) => [kindOf(value), value ?? null]));
}

function kindOf(value: unknown): string {
  return value instanceof Date ? 'time' : value === null ? 'undefined' : typeof value;
}
