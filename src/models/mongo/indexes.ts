import { type Connection, type Model, mongo, Schema } from 'mongoose';

/** Which indexes have been made, so that a process need not look at each collection. */
interface MadeIndexesDocument {
  _id: string;
  /** A text for each. */
  made: string[];
  at: Date;
}

const schema = new Schema<MadeIndexesDocument>(
  { _id: String, made: { type: [String], required: true }, at: { type: Date, required: true } },
  { versionKey: false },
);
const INDEXES = 'indexes';

/** The server's code for a collection that does not exist. */
const NO_COLLECTION = 26;

/**
 * Makes every index that the models declare, and gives those that remove what has expired the time that is declared. That all were made is written
 * down when they are: an index that is still being built is not counted.
 *
 * @throws Error with what went wrong for each collection whose indexes could not be made
 */
export async function createIndexes(connection: Connection): Promise<void> {
  const failures: string[] = [];
  for (const model of Object.values(connection.models)) {
    try {
      await changeLifetimes(model);
      await model.createIndexes();
    } catch (error) {
      failures.push(`${model.collection.name} (${error instanceof Error ? error.message : String(error)})`);
    }
  }
  if (failures.length > 0)
    throw new Error(
      `MongoDB has not made the indexes of ${failures.join(', ')}. Run "hookline migrate" again.`,
    );
  const model = madeIndexes(connection);
  const earlier = (await model.findById(INDEXES).lean())?.made ?? [];
  // Processes of an earlier version still ask for theirs.
  const made = [...new Set([...earlier, ...declared(connection)])].sort();
  await model.updateOne({ _id: INDEXES }, { $set: { made, at: new Date() } }, { upsert: true });
}

/** Whether {@link createIndexes} has made what this version declares. */
export async function hasIndexes(connection: Connection): Promise<boolean> {
  const made = new Set((await madeIndexes(connection).findById(INDEXES).lean())?.made);
  return declared(connection).every((index) => made.has(index));
}

function madeIndexes(connection: Connection): Model<MadeIndexesDocument> {
  return connection.model<MadeIndexesDocument>('migration', schema, 'migrations');
}

/** A text for each index that the models declare. */
function declared(connection: Connection): string[] {
  return Object.values(connection.models).flatMap((model) =>
    model.schema.indexes().map(([key]) => `${model.collection.name} ${JSON.stringify(key)}`),
  );
}

/** An index is not made again with another time after which it removes documents: it is changed. */
async function changeLifetimes(model: Model<unknown>): Promise<void> {
  const lifetimes = model.schema
    .indexes()
    .flatMap(([key, { expireAfterSeconds: seconds }]) => (seconds === undefined ? [] : [{ key, seconds }]));
  if (lifetimes.length === 0) return;
  const existing = await model.collection.indexes().catch((error: unknown) => {
    if (error instanceof mongo.MongoServerError && error.code === NO_COLLECTION) return [];
    throw error;
  });
  for (const { key, seconds } of lifetimes) {
    const found = existing.find((index) => JSON.stringify(index.key) === JSON.stringify(key));
    if (found?.expireAfterSeconds === undefined || found.expireAfterSeconds === seconds) continue;
    await model.db.db?.command({
      collMod: model.collection.name,
      index: { keyPattern: key, expireAfterSeconds: seconds },
    });
  }
}
