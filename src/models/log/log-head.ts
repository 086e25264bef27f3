import type { Connection, Model } from 'mongoose';
import { insertOrRaise } from './insert-or-raise.js';
import { type HeadDocument, headSchema } from './log-documents.js';

/** The last checkpoint that was signed. */
export interface LogHead {
  size: number;
  root: Buffer;
  /** The signed note. */
  note: string;
  signed_at: Date;
}

const HEAD = 'head';

/** Where the last checkpoint is kept. */
export class LogHeads {
  private readonly model: Model<HeadDocument>;

  constructor(connection: Connection) {
    this.model = connection.model<HeadDocument>('log_head', headSchema, 'log_heads');
  }

  /** The last checkpoint; `undefined` if none has been signed. */
  async read(): Promise<LogHead | undefined> {
    const found = await this.model.findOne({ _id: HEAD }).lean();
    return found
      ? {
          size: found.size,
          root: Buffer.from(found.root, 'base64'),
          note: found.note,
          signed_at: found.signed_at,
        }
      : undefined;
  }

  /** Keeps a checkpoint, unless one of a larger log, or of the same, is there. */
  async advance({ root, ...head }: LogHead): Promise<void> {
    await insertOrRaise(this.model, [{ _id: HEAD, ...head, root: root.toString('base64') }], 'size');
  }

  /** Puts a note in the place of one of the same size: the key has changed. */
  async signAgain(size: number, note: string): Promise<void> {
    await this.model.updateOne({ _id: HEAD, size }, { $set: { note, signed_at: new Date() } });
  }
}
