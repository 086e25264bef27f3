import { randomBytes } from 'node:crypto';
import { type Connection, type Model, Schema } from 'mongoose';
import { insertMissing } from '../mongo/insert-missing.js';
import { type DataKeyDocument, dataKeyModel, OVERWRITTEN } from './data-keys.js';

/** In both databases, where data keys live apart: that the two belong together. */
interface HomeDocument {
  _id: string;
  /** The same in both. */
  mark: string;
}

const schema = new Schema<HomeDocument>(
  { _id: String, mark: { type: String, required: true } },
  { versionKey: false },
);
const HOME = 'home';
/** Keys that are moved at once. */
const MOVED_AT_ONCE = 500;

/** Where the data keys of an installation are, if that is a database of their own. Without the right keys, everything would look erased. */
export class DataKeyHome {
  private readonly main: Model<HomeDocument>;
  private readonly apart: Model<HomeDocument> | undefined;
  private readonly keys: { main: Model<DataKeyDocument>; apart: Model<DataKeyDocument> } | undefined;

  /** @param apart the database of the data keys; absent: they are in the other one */
  constructor(main: Connection, apart?: Connection) {
    const homeOf = (connection: Connection) =>
      connection.model<HomeDocument>('data_key_home', schema, 'data_key_home');
    this.main = homeOf(main);
    this.apart = apart && homeOf(apart);
    this.keys = apart && { main: dataKeyModel(main), apart: dataKeyModel(apart) };
  }

  /** @throws Error that says what to do, unless the data keys of this installation are where the settings say */
  async require(): Promise<void> {
    const expected = (await this.main.findById(HOME).lean())?.mark;
    if (!this.apart) {
      if (expected === undefined) return;
      throw new Error(
        'The data keys of this installation are in a MongoDB of their own: set HOOKLINE_KEYS_MONGODB_URI to it.',
      );
    }
    if (expected === undefined)
      throw new Error(
        'The data keys have not been moved to the MongoDB of HOOKLINE_KEYS_MONGODB_URI: stop all processes and run "hookline migrate".',
      );
    if ((await this.apart.findById(HOME).lean())?.mark !== expected)
      throw new Error(
        'The MongoDB of HOOKLINE_KEYS_MONGODB_URI does not hold the data keys of this installation: name the one that does, or restore its latest backup.',
      );
    if (this.keys && (await this.keys.main.findOne().lean()))
      throw new Error(
        'MONGODB_URI holds data keys beside HOOKLINE_KEYS_MONGODB_URI: run "hookline migrate".',
      );
  }

  /** Moves the data keys to the database of their own, if there is one. No process may use them meanwhile. @returns how many were moved */
  async move(): Promise<number> {
    if (!this.apart || !this.keys) return 0;
    if (!(await this.main.findById(HOME).lean())) {
      if (await this.keys.apart.findOne().lean())
        throw new Error(
          'HOOKLINE_KEYS_MONGODB_URI names a database with data keys. If they are of this installation, and MONGODB_URI was restored from a backup ' +
            'of before they were moved, copy the collection data_key_home from there and drop data_keys.',
        );
      const mark = randomBytes(16).toString('base64url');
      await this.apart.updateOne({ _id: HOME }, { $set: { mark } }, { upsert: true });
      await this.main.create({ _id: HOME, mark });
    }
    let moved = 0;
    for (;;) {
      const keys = await this.keys.main.find().limit(MOVED_AT_ONCE).lean();
      if (keys.length === 0) break;
      await insertMissing(
        this.keys.apart,
        keys.filter(({ sealed }) => sealed !== OVERWRITTEN),
      );
      const filter = { _id: { $in: keys.map(({ _id }) => _id) } };
      await this.keys.main.updateMany(filter, { $set: { sealed: OVERWRITTEN } });
      await this.keys.main.deleteMany(filter);
      moved += keys.length;
    }
    await this.require();
    return moved;
  }
}
