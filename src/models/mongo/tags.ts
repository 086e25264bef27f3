import type { Model, ProjectionType } from 'mongoose';
import { SealError, type SecretBox } from '../../domain/access/secret-box.js';
import { RecordAlteredError } from '../../domain/records/record-altered.js';
import { driverCollection, type Fields } from './collection.js';
import { asDeclared, NOT_WRITTEN } from './declared.js';
import { inOnePass } from './in-order.js';

/** A document that has a tag, or should have one. */
interface TaggedDocument {
  _id: string;
  tag?: string | null | undefined;
}

/**
 * Tags of one kind of documents: with the database alone, nobody can write a correct one. A tag is of a text that says
 * all that is believed of the document, and stands in it from its first write on.
 */
export class Tags<D extends TaggedDocument> {
  private readonly box: SecretBox | undefined;
  private readonly purpose: string;
  private readonly fields: Fields;
  private readonly contentOf: (document: D) => string;

  /**
   * @param purpose what the documents are, so that a tag of one kind is none of another
   * @param collection that declares them
   * @param contentOf what the tag of a document is of
   */
  constructor(
    box: SecretBox | undefined,
    purpose: string,
    { fields }: { readonly fields: Fields },
    contentOf: (document: NoInfer<D>) => string,
  ) {
    this.box = box;
    this.purpose = purpose;
    this.fields = fields;
    this.contentOf = contentOf;
  }

  /** Whether there is a key. */
  get hasKey(): boolean {
    return this.box !== undefined;
  }

  /** @throws Error without HOOKLINE_SECRET_KEYS: nothing is written that nobody could believe later */
  tag(document: Omit<D, 'tag'>): string {
    if (!this.box) throw new Error(`a ${this.purpose} cannot be tagged without HOOKLINE_SECRET_KEYS`);
    // As it is read: an empty list may be left out.
    return this.box.tag(this.contentOf(asDeclared(this.fields, document as D).document), this.purpose);
  }

  /**
   * Reads a document that may have been altered.
   *
   * @returns it, with every field of the type that is declared; and its difference from what was written, the end of a
   * sentence that begins with its id: absent if there is none
   */
  read<S extends D>(stored: S): { document: S; wrong: string | undefined } {
    const { document, wrong = this.wrongTag(document) } = asDeclared(this.fields, stored);
    return { document, wrong };
  }

  /** Difference of a document from what was written, as of {@link read}. */
  whatIsWrong(stored: D): string | undefined {
    return this.read(stored).wrong;
  }

  /** A document as it was written; `undefined` if it is not. */
  believed(stored: D): D | undefined {
    const { document, wrong } = this.read(stored);
    return wrong === undefined ? document : undefined;
  }

  /** @returns a document as it was written @throws RecordAlteredError if it is not */
  check(stored: D): D {
    const { document, wrong } = this.read(stored);
    if (wrong !== undefined) throw new RecordAlteredError(document._id, wrong);
    return document;
  }

  private wrongTag(document: D): string | undefined {
    const { tag } = document;
    if (!tag) return 'has no tag';
    if (!this.box) return 'cannot be checked without HOOKLINE_SECRET_KEYS';
    const text = this.textOf(document);
    try {
      return text !== undefined && this.box.isTagged(tag, text, this.purpose) ? undefined : NOT_WRITTEN;
    } catch (error) {
      if (error instanceof SealError) return `has a tag that cannot be checked: ${error.message}`;
      throw error;
    }
  }

  /** `undefined` if it cannot be made: JSON in a field may have half a surrogate pair, or be nested without end. */
  private textOf(document: D): string | undefined {
    try {
      return this.contentOf(document);
    } catch {
      return undefined;
    }
  }

  /**
   * Tags again, with the newest key, what an older key tagged, so that the older one can be dropped. Altered documents
   * stay as they are.
   *
   * @param fields those that are read; absent: all @returns how many were tagged again
   */
  async retagEach(model: Model<D>, fields: ProjectionType<D> = {}): Promise<number> {
    let retagged = 0;
    for await (const some of inOnePass<D>(model.find({}, fields))) {
      const outdated = some.filter((document) => {
        const { tag } = document;
        const isOutdated = typeof tag === 'string' && tag !== '' && this.box?.isOutdated(tag);
        return isOutdated && this.whatIsWrong(document) === undefined;
      });
      if (outdated.length === 0) continue;
      const updates = outdated.map((document) => ({
        // It may have been written meanwhile, with another tag.
        updateOne: {
          filter: { _id: document._id, tag: document.tag },
          update: { $set: { tag: this.tag(document) } },
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
