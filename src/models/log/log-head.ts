import { LogAlteredError } from '../../domain/log/log-altered.js';
import { collection, may, must, repositoryOf } from '../mongo/collection.js';
import { asDeclared } from '../mongo/declared.js';
import { BY_MAJORITY } from '../mongo/durability.js';
import { insertOrRaise } from '../mongo/insert-missing.js';

/** The last signed checkpoint. */
const heads = collection(
  'log_heads',
  {
    _id: must(String),
    /** Leaves. It only grows. */
    size: must(Number),
    /** Base64. */
    root: must(String),
    /** The signed note. */
    note: must(String),
    signed_at: must(Date),
    /** Response of a time-stamping service about the note, base64. */
    timestamp: may(String),
  },
  BY_MAJORITY,
);

/** The last checkpoint that was signed. */
export interface LogHead {
  size: number;
  root: Buffer;
  /** The signed note. */
  note: string;
  signed_at: Date;
  /** Response of a time-stamping service about the note, base64; absent if there is none yet. */
  timestamp?: string | undefined;
}

const HEAD = 'head';

/**
 * Where the last checkpoint is kept. Access to the database suffices to write there: nothing but the note is to be
 * believed, after it was opened.
 */
export class LogHeads extends repositoryOf(heads) {
  /** The last checkpoint, unverified; `undefined` if there is none. @throws LogAlteredError if it can be none */
  async read(): Promise<LogHead | undefined> {
    const found = await this.model.findOne({ _id: HEAD }).lean();
    if (!found) return undefined;
    const { document, wrong } = asDeclared(heads.fields, found);
    if (wrong !== undefined) throw new LogAlteredError('checkpoint_altered', `the last checkpoint ${wrong}`);
    const { size, root, note, signed_at, timestamp } = document;
    return { size, root: Buffer.from(root, 'base64'), note, signed_at, timestamp: timestamp ?? undefined };
  }

  /**
   * Keeps a checkpoint, unless one of a larger log, or of the same, is there.
   *
   * @param replaces the note whose place it takes whatever its size: one of the same tree, or of a log that was given
   * up
   */
  async advance({ root, timestamp, ...head }: LogHead, replaces?: string): Promise<void> {
    const fields = { ...head, timestamp: timestamp ?? null, root: root.toString('base64') };
    if (replaces !== undefined) await this.model.updateOne({ _id: HEAD, note: replaces }, { $set: fields });
    else await insertOrRaise(this.model, [{ _id: HEAD, ...fields }], 'size');
  }

  /** Keeps the time stamp of a checkpoint, unless another has taken its place. */
  async stamp(note: string, timestamp: string): Promise<void> {
    await this.model.updateOne({ _id: HEAD, note }, { $set: { timestamp } });
  }
}
