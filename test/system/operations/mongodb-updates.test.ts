import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import mongoose, { type mongo } from 'mongoose';
import { servers } from '../../support/servers.js';

/** A document; what an update changes is at `a`, or at `deep.a`. */
interface Thing {
  _id: string;
  a?: unknown;
  deep?: { a?: unknown };
}

interface Case {
  update: mongo.UpdateFilter<Thing>;
  /** Value at the path before; absent: there is no such document, or, with `without`, none at the path. */
  before?: unknown;
  without?: boolean;
  /** Value at the path afterwards, `ABSENT`, or `REFUSED`: then it is as it was. */
  after: unknown;
}

const ABSENT = Symbol('absent');
const REFUSED = Symbol('refused');

/** Values that a server may lose, in the order of MongoDB (documents before arrays, null before all). */
const VALUES = [null, {}, { list: [], of: { nothing: null, none: {} } }, []] as const;
/**
 * Those that are put into arrays: the embedded server refuses arrays within arrays, and nothing of Hookline has them.
 */
const ELEMENTS = [VALUES[0], VALUES[1], VALUES[2]] as const;

/** Every operator of updates with every such value, for a path. */
function casesAt(path: string): Case[] {
  const cases: Case[] = [];
  /** Effect of an update on a missing field, in a new document and in one that is there. */
  const onNothing = (update: object, inserted: unknown, matched = inserted) =>
    cases.push({ update, after: inserted }, { update, without: true, after: matched });
  const on = (before: unknown, update: object, after: unknown) => cases.push({ update, before, after });

  for (const [rank, value] of VALUES.entries()) {
    onNothing({ $set: { [path]: value } }, value);
    onNothing({ $setOnInsert: { [path]: value } }, value, ABSENT);
    onNothing({ $max: { [path]: value } }, value);
    onNothing({ $min: { [path]: value } }, value);
    onNothing({ $pullAll: { [path]: [value] } }, ABSENT);
    for (const [otherRank, other] of VALUES.entries()) {
      on(other, { $set: { [path]: value } }, value);
      on(other, { $setOnInsert: { [path]: value } }, other);
      on(other, { $max: { [path]: value } }, VALUES[Math.max(rank, otherRank)]);
      on(other, { $min: { [path]: value } }, VALUES[Math.min(rank, otherRank)]);
    }
    on(7, { $max: { [path]: value } }, value === null ? 7 : value);
    on(7, { $min: { [path]: value } }, value === null ? value : 7);
    on(value, { $unset: { [path]: 1 } }, ABSENT);
    on(value, { $currentDate: { [path]: true } }, Date);
    for (const update of [{ $inc: { [path]: 2 } }, { $mul: { [path]: 2 } }, { $bit: { [path]: { or: 2 } } }])
      on(value, update, REFUSED);
    if (value !== VALUES.at(-1))
      for (const update of [
        { $push: { [path]: 1 } },
        { $addToSet: { [path]: 1 } },
        { $pull: { [path]: 1 } },
        { $pullAll: { [path]: [1] } },
        { $pop: { [path]: 1 } },
      ])
        on(value, update, REFUSED);
  }

  for (const element of ELEMENTS) {
    onNothing({ $push: { [path]: element } }, [element]);
    onNothing({ $push: { [path]: { $each: [element, element] } } }, [element, element]);
    onNothing({ $addToSet: { [path]: element } }, [element]);
    onNothing({ $addToSet: { [path]: { $each: [element, element] } } }, [element]);
    onNothing({ $pull: { [path]: element } }, ABSENT);
    on([element, 7], { $pop: { [path]: -1 } }, [7]);
    on([element], { $pop: { [path]: 1 } }, []);
    for (const other of ELEMENTS) {
      const isSame = element === other;
      on([other], { $push: { [path]: element } }, [other, element]);
      on([other], { $addToSet: { [path]: element } }, isSame ? [other] : [other, element]);
      // A document is a filter of the elements that are documents; an empty one is met by all of them.
      const isPulled = isSame || (element !== null && Object.keys(element).length === 0 && other !== null);
      on([other], { $pull: { [path]: element } }, isPulled ? [] : [other]);
      on([other], { $pullAll: { [path]: [element] } }, isSame ? [] : [other]);
    }
  }

  onNothing({ $push: { [path]: { $each: [] } } }, []);
  onNothing({ $addToSet: { [path]: { $each: [] } } }, []);
  onNothing({ $pullAll: { [path]: [] } }, ABSENT);
  onNothing({ $pop: { [path]: -1 } }, ABSENT);
  onNothing({ $unset: { [path]: 1 } }, ABSENT);
  onNothing({ $inc: { [path]: 2 } }, 2);
  onNothing({ $mul: { [path]: 2 } }, 0);
  onNothing({ $bit: { [path]: { or: 2 } } }, 2);
  onNothing({ $currentDate: { [path]: true } }, Date);
  on([], { $push: { [path]: { $each: [] } } }, []);
  on([], { $addToSet: { [path]: { $each: [] } } }, []);
  on([], { $pop: { [path]: 1 } }, []);
  return cases;
}

const isDeep = (path: string) => path === 'deep.a';
const thing = (_id: string, path: string, a: unknown): Thing =>
  isDeep(path) ? { _id, deep: { a } } : { _id, a };
const valueIn = (document: Thing | null, path: string) => {
  const holder = isDeep(path) ? document?.deep : document;
  return holder && 'a' in holder ? holder.a : ABSENT;
};

describe('Updates with empty arrays, empty documents and null [world]', () => {
  let connection: mongoose.Connection;
  let db: mongo.Db;

  before(async () => {
    const dbName = `updates${randomBytes(6).toString('hex')}`;
    connection = await mongoose.createConnection(servers().mongodbUri, { dbName }).asPromise();
    db = connection.db as mongo.Db;
  });

  after(async () => {
    await connection.dropDatabase();
    await connection.close();
  });

  const ways = {
    update: async (things: mongo.Collection<Thing>, _id: string, update: Case['update']) => {
      await things.updateOne({ _id }, update, { upsert: true });
      return things.findOne({ _id });
    },
    findAndModify: (things: mongo.Collection<Thing>, _id: string, update: Case['update']) =>
      things.findOneAndUpdate({ _id }, update, { upsert: true, returnDocument: 'after' }),
  };

  for (const path of ['a', 'deep.a']) {
    for (const [way, run] of Object.entries(ways)) {
      it(`do by ${way} to ${path} what the operators say, on insert and on match`, async () => {
        const things = db.collection<Thing>(`c${randomBytes(6).toString('hex')}`);
        const cases = casesAt(path).map((one, at) => ({ ...one, _id: `thing-${at}` }));
        await things.insertMany(
          cases.flatMap(({ _id, before, without }) =>
            without ? [{ _id }] : before !== undefined ? [thing(_id, path, before)] : [],
          ),
        );
        await Promise.all(
          cases.map(async ({ _id, update, before, after }) => {
            const label = `${JSON.stringify(update)} on ${JSON.stringify(before)}`;
            if (after === REFUSED) {
              await assert.rejects(run(things, _id, update), { name: 'MongoServerError' }, label);
              return;
            }
            const found = valueIn(await run(things, _id, update), path);
            if (after === Date) assert.ok(found instanceof Date, label);
            else assert.deepEqual(found, after, label);
          }),
        );
        const stored = new Map((await things.find().toArray()).map((one) => [one._id, one]));
        for (const { _id, update, before, after } of cases) {
          const expected = after === REFUSED ? before : after;
          const found = valueIn(stored.get(_id) ?? null, path);
          if (expected !== Date) assert.deepEqual(found, expected, JSON.stringify(update));
        }
      });
    }
  }

  it('move what they rename as it is', async () => {
    const things = db.collection<Thing>(`c${randomBytes(6).toString('hex')}`);
    await things.insertMany(VALUES.map((value, at) => thing(`thing-${at}`, 'a', value)));
    await things.updateMany({}, { $rename: { a: 'deep.a' } });
    const moved = await things.find().sort({ _id: 1 }).toArray();
    assert.deepEqual(
      moved,
      VALUES.map((value, at) => thing(`thing-${at}`, 'deep.a', value)),
    );
    await things.updateOne({ _id: 'new' }, { $rename: { a: 'b' } }, { upsert: true });
    assert.deepEqual(await things.findOne({ _id: 'new' }), { _id: 'new' });
  });
});

describe('Updates of one command [world]', () => {
  let connection: mongoose.Connection;

  before(async () => {
    const dbName = `updates${randomBytes(6).toString('hex')}`;
    connection = await mongoose.createConnection(servers().mongodbUri, { dbName }).asPromise();
  });
  after(async () => {
    await connection.dropDatabase();
    await connection.close();
  });

  const fresh = <T extends mongo.Document>() =>
    (connection.db as mongo.Db).collection<T>(`c${randomBytes(6).toString('hex')}`);

  it('find what those before them wrote', async () => {
    const things = fresh<{ _id: string | number; state: string; n: number }>();
    await things.createIndex({ n: 1 }, { unique: true });
    const documents = ['a', 'b', 'c', 1, 2].map((_id, n) => ({ _id, state: 'open', n }));
    await things.insertMany(documents);
    const to = (filter: object, set: object, upsert = false) => ({
      updateOne: { filter, update: { $set: set }, upsert },
    });
    const { matchedCount, upsertedCount } = await things.bulkWrite([
      to({ _id: 'a', state: 'open' }, { state: 'closed' }),
      to({ _id: 'a', state: 'open' }, { state: 'twice' }),
      to({ _id: 1, state: 'open' }, { state: 'closed' }),
      to({ _id: 1, state: 'open' }, { state: 'twice' }),
      to({ state: 'closed' }, { state: 'found' }),
      { updateMany: { filter: { state: 'open' }, update: { $set: { state: 'many' } } } },
      to({ _id: 'd' }, { state: 'new', n: 10 }, true),
      to({ _id: 'd', n: 10 }, { n: 11 }),
      // A unique value goes from one to another.
      to({ _id: 'b' }, { n: 12 }),
      to({ _id: 'c' }, { n: 1 }),
    ]);
    assert.deepEqual([matchedCount, upsertedCount], [9, 1]);
    const all = await things.find().toArray();
    assert.deepEqual(all.map(({ _id, state, n }) => `${_id} ${state} ${n}`).sort(), [
      ...['1 closed 3', '2 many 4', 'a found 0', 'b many 12', 'c many 1', 'd new 11'],
    ]);
  });

  it('before one that is refused are kept', async () => {
    const things = fresh<{ _id: string; n: number }>();
    await things.createIndex({ n: 1 }, { unique: true });
    await things.insertMany(['a', 'b', 'c', 'd'].map((_id, n) => ({ _id, n })));
    const updates = [10, 11, 11, 13].map((n, at) => ({
      updateOne: { filter: { _id: 'abcd'.charAt(at) }, update: { $set: { n } } },
    }));
    await assert.rejects(things.bulkWrite(updates), { code: 11_000 });
    assert.deepEqual(
      (await things.find().sort({ _id: 1 }).toArray()).map(({ n }) => n),
      [10, 11, 2, 3],
    );
  });
});
