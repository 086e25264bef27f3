import type { Connection, Model } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { newId } from '../../domain/basics/ids.js';
import type { NamedOrigin, Origin } from '../../domain/change/change.js';
import { RecordAlteredError } from '../../domain/records/record-altered.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import { collection, type DocumentIn, must } from '../mongo/collection.js';
import { insertMissing } from '../mongo/insert-missing.js';
import { Tags, textOf } from '../mongo/tags.js';

const DAY_MS = 24 * 3_600_000;

const privateInputs = collection('private_inputs', {
  /** By which a workflow knows it. */
  _id: must(String),
  /** JSON. */
  text: must(String),
  /** Of both. */
  tag: must(String),
  expires_at: must(Date, { expires: 0 }),
});
type InputDocument = DocumentIn<typeof privateInputs>;

/**
 * Inputs of workflows that no history may contain: where a request came from and why it was made. A workflow has their
 * ids. They are kept for as long as changes are, which say the same.
 */
export class PrivateInputs {
  private readonly model: Model<InputDocument>;
  private readonly tags: Tags;
  private readonly keptMs: number;

  constructor(connection: Connection, keptDays: number, box: SecretBox | undefined) {
    this.model = privateInputs(connection);
    this.tags = new Tags(box, 'private input');
    this.keptMs = keptDays * DAY_MS;
  }

  /** Keeps an input. The first one with an id stays. */
  async keep(id: string, input: object): Promise<void> {
    const text = JSON.stringify(input);
    const tag = this.tags.tag(contentOf({ _id: id, text }));
    await insertMissing(this.model, [
      { _id: id, text, tag, expires_at: new Date(sharedNow() + this.keptMs) },
    ]);
  }

  /** Some inputs by their ids, those that are still kept. @throws RecordAlteredError */
  async of<T>(ids: readonly string[]): Promise<Map<string, T>> {
    const documents = await this.model.find({ _id: { $in: [...ids] } }).lean<InputDocument[]>();
    return new Map(
      documents.map((document) => {
        const wrong = this.tags.whatIsWrong(document.tag, contentOf(document));
        if (wrong !== undefined) throw new RecordAlteredError(document._id, wrong);
        return [document._id, JSON.parse(document.text) as T];
      }),
    );
  }

  /** Keeps what an origin says besides its actor. */
  async keepOrigin({ actor, ...from }: Origin): Promise<NamedOrigin> {
    return { actor, input_id: await this.keepFrom(from) };
  }

  /** Keeps where a request comes from. @returns the id */
  async keepFrom(from: Omit<Origin, 'actor'>): Promise<string> {
    const id = newId('input');
    await this.keep(id, from);
    return id;
  }

  /** An origin that was kept; what a restored backup does not have of it is left out. */
  async originOf({ actor, input_id }: NamedOrigin): Promise<Origin> {
    return { ...(await this.fromOf(input_id)), actor };
  }

  /** Where a request came from, by the id that it was kept under. */
  async fromOf(id: string | undefined): Promise<Omit<Origin, 'actor'>> {
    if (id === undefined) return {};
    return (await this.of<Omit<Origin, 'actor'>>([id])).get(id) ?? {};
  }

  /** Tags again what an older key tagged. @returns how many */
  retagAll(): Promise<number> {
    return this.tags.retagEach(this.model, contentOf);
  }
}

/** Content that the tag of an input covers. */
function contentOf({ _id, text }: Pick<InputDocument, '_id' | 'text'>): string {
  return textOf([_id, text]);
}
