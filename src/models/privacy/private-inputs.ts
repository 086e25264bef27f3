import type { Connection, Model } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { UNITS } from '../../domain/basics/duration.js';
import { newId } from '../../domain/basics/ids.js';
import type { NamedOrigin, Origin } from '../../domain/change/change.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import { collection, type DocumentIn, must } from '../mongo/collection.js';
import { Tags, textOf } from '../mongo/tags.js';

const privateInputs = collection('private_inputs', {
  /** By which a workflow knows it. */
  _id: must(String),
  /** JSON. */
  text: must(String),
  /** Tag of id and text. */
  tag: must(String),
  expires_at: must(Date, { expires: 0 }),
});
type InputDocument = DocumentIn<typeof privateInputs>;

/**
 * Inputs of workflows that no history may contain: where a request came from, and why it was made. A workflow has their
 * ids. They are kept for as long as changes are, which say the same.
 */
export class PrivateInputs {
  private readonly model: Model<InputDocument>;
  private readonly tags: Tags<InputDocument>;
  private readonly keptMs: number;

  constructor(connection: Connection, keptDays: number, box: SecretBox | undefined) {
    this.model = privateInputs(connection);
    this.tags = new Tags(box, 'private input', privateInputs, contentOfInput);
    this.keptMs = keptDays * UNITS.d;
  }

  /** Keeps what an origin says besides its actor. */
  async keepOrigin({ actor, ...from }: Origin): Promise<NamedOrigin> {
    return { actor, input_id: await this.keepFrom(from) };
  }

  /** Keeps where a request comes from. @returns the id */
  async keepFrom(from: Omit<Origin, 'actor'>): Promise<string> {
    const input = { _id: newId('input'), text: JSON.stringify(from) };
    const document = { ...input, expires_at: new Date(sharedNow() + this.keptMs) };
    await this.model.create({ ...document, tag: this.tags.tag(document) });
    return input._id;
  }

  /** An origin that was kept; what a restored backup does not have of it is left out. */
  async originOf({ actor, input_id }: NamedOrigin): Promise<Origin> {
    return { ...(await this.fromOf(input_id)), actor };
  }

  /** Where a request came from, by the id that it was kept under. @throws RecordAlteredError */
  async fromOf(id: string | undefined): Promise<Omit<Origin, 'actor'>> {
    const document = id === undefined ? undefined : await this.model.findById(id).lean<InputDocument>();
    if (!document) return {};
    this.tags.check(document);
    return JSON.parse(document.text) as Omit<Origin, 'actor'>;
  }

  /** Tags again what an older key tagged. @returns how many */
  retagAll(): Promise<number> {
    return this.tags.retagEach(this.model);
  }
}

/** Content that the tag of an input covers. */
export function contentOfInput({ _id, text }: Pick<InputDocument, '_id' | 'text'>): string {
  return textOf([_id, text]);
}
