import { randomBytes } from 'node:crypto';
import type { Connection } from 'mongoose';
import { collection, must } from '../mongo/collection.js';
import { inOnePass } from '../mongo/in-order.js';
import { insertMissing } from '../mongo/insert-missing.js';
import { dataKeys, erasedKeys, OVERWRITTEN } from './data-keys.js';

/** In both databases, where data keys live apart: that the two belong together. */
const homes = collection('data_key_home', {
  _id: must(String),
  /** The same in both. */
  mark: must(String),
});
const HOME = 'home';
/** Keys that are moved at once. */
const MOVED_AT_ONCE = 500;

/**
 * Where the data keys of an installation are, if that is a database of their own. Without the right keys, everything
 * would look erased.
 */
export class DataKeyHome {
  private readonly main: ReturnType<typeof inDatabase>;
  private readonly apart: ReturnType<typeof inDatabase> | undefined;

  /** @param apart the database of the data keys; absent: they are in the other one */
  constructor(main: Connection, apart?: Connection) {
    this.main = inDatabase(main);
    this.apart = apart && inDatabase(apart);
  }

  /** @throws Error that says what to do, unless the data keys of this installation are where the settings say */
  async require(): Promise<void> {
    const expected = (await this.main.home.findById(HOME).lean())?.mark;
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
    if ((await this.apart.home.findById(HOME).lean())?.mark !== expected)
      throw new Error(
        'The MongoDB of HOOKLINE_KEYS_MONGODB_URI does not hold the data keys of this installation: name the one that does, or restore its latest backup.',
      );
    if (await this.main.keys.findOne().lean())
      throw new Error(
        'MONGODB_URI holds data keys beside HOOKLINE_KEYS_MONGODB_URI: run "hookline migrate".',
      );
  }

  /**
   * Moves the data keys to the database of their own, if there is one. No process may use them meanwhile.
   *
   * @returns how many were moved
   */
  async move(): Promise<number> {
    if (!this.apart) return 0;
    if (!(await this.main.home.findById(HOME).lean())) {
      if (await this.apart.keys.findOne().lean())
        throw new Error(
          'HOOKLINE_KEYS_MONGODB_URI names a database with data keys. If they are of this installation, and MONGODB_URI was restored from a backup ' +
            'of before they were moved, copy the collection data_key_home from there and drop data_keys.',
        );
      const mark = randomBytes(16).toString('base64url');
      await this.apart.home.updateOne({ _id: HOME }, { $set: { mark } }, { upsert: true });
      await this.main.home.create({ _id: HOME, mark });
    }
    let moved = 0;
    for (;;) {
      const keys = await this.main.keys.find().limit(MOVED_AT_ONCE).lean();
      if (keys.length === 0) break;
      await insertMissing(
        this.apart.keys,
        keys.filter(({ sealed }) => sealed !== OVERWRITTEN),
      );
      const filter = { _id: { $in: keys.map(({ _id }) => _id) } };
      await this.main.keys.updateMany(filter, { $set: { sealed: OVERWRITTEN } });
      await this.main.keys.deleteMany(filter);
      moved += keys.length;
    }
    for await (const some of inOnePass(this.main.erased.find())) await insertMissing(this.apart.erased, some);
    await this.main.erased.deleteMany({});
    await this.require();
    return moved;
  }
}

function inDatabase(connection: Connection) {
  return { home: homes(connection), keys: dataKeys(connection), erased: erasedKeys(connection) };
}
