import { type Connection, type IndexOptions, type Model, mongo } from 'mongoose';
import { sharedDate } from '../../domain/time/shared-time.js';
import { collection, must } from './collection.js';

/** Which indexes have been made, so that a process need not look at each collection. */
const madeIndexes = collection('migrations', {
  _id: must(String),
  /** A text for each. */
  made: must<string[]>([String]),
  at: must(Date),
});
const INDEXES = 'indexes';

/** The server's code for a collection that does not exist. */
const NO_COLLECTION = 26;

/** The server's codes for an index that is there with other options, or with another key under the same name. */
const CONFLICTS: readonly unknown[] = [85, 86];

/**
 * Makes every index that the models declare, and gives those that remove what has expired the time that is declared.
 * Once all were made, that is noted in the database: an index that is still being built is not counted.
 *
 * @throws Error with what went wrong for each collection whose indexes could not be made
 */
export async function createIndexes(connection: Connection): Promise<void> {
  const failures: string[] = [];
  const conflicts: string[] = [];
  for (const model of Object.values(connection.models)) {
    try {
      await changeLifetimes(model);
      await model.createIndexes();
    } catch (error) {
      const others = await indexesInTheWay(model, error);
      conflicts.push(
        ...others.map((name) => `db.${model.collection.name}.dropIndex(${JSON.stringify(name)})`),
      );
      if (others.length === 0)
        failures.push(`${model.collection.name} (${error instanceof Error ? error.message : String(error)})`);
    }
  }
  if (conflicts.length > 0)
    throw new Error(
      `MongoDB has indexes with other options than Hookline's, as after a restore from another kind of server. Drop them in mongosh: ${conflicts.join('; ')}. Then run "hookline migrate" again.`,
    );
  if (failures.length > 0)
    throw new Error(
      `MongoDB has not made the indexes of ${failures.join(', ')}. Run "hookline migrate" again.`,
    );
  const model = madeIndexes(connection);
  const earlier = (await model.findById(INDEXES).lean())?.made ?? [];
  // Processes of an earlier version still ask for theirs.
  const made = [...new Set([...earlier, ...declared(connection)])].sort();
  await model.updateOne({ _id: INDEXES }, { $set: { made, at: sharedDate() } }, { upsert: true });
}

/** The names of indexes that have to go before ours can be made. None if the error is of another kind. */
async function indexesInTheWay(model: Model<unknown>, error: unknown): Promise<string[]> {
  if (!(error instanceof mongo.MongoServerError) || !CONFLICTS.includes(error.code)) return [];
  const ours = new Map(model.schema.indexes().map(([key, options]) => [JSON.stringify(key), options]));
  const existing = await model.collection.indexes();
  return existing.flatMap((index) => {
    const wanted = ours.get(JSON.stringify(index.key));
    const isSame = !wanted || optionsOf(index) === optionsOf(wanted);
    return isSame || index.name === undefined ? [] : [index.name];
  });
}

/** Options of an index that cannot be changed without making it anew. */
function optionsOf(index: IndexOptions): string {
  const { unique = false, sparse = false, expireAfterSeconds: seconds, partialFilterExpression } = index;
  return JSON.stringify([unique, sparse, seconds !== undefined, partialFilterExpression ?? {}]);
}

/** Whether {@link createIndexes} has made what this version declares. */
export async function hasIndexes(connection: Connection): Promise<boolean> {
  const made = new Set((await madeIndexes(connection).findById(INDEXES).lean())?.made);
  return declared(connection).every((index) => made.has(index));
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
