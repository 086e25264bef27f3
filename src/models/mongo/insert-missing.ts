import { type Model, mongo } from 'mongoose';
import { driverCollection } from './collection.js';
import { isDuplicateKey } from './duplicate-key.js';

/** Documents written at once. */
const WRITES_AT_ONCE = 100;

type Writes<D extends object> = Parameters<mongo.Collection<D>['bulkWrite']>[0];

/**
 * Stores documents, but none in the place of one with the same `_id`, or the same value in a unique index. They are
 * stored as they are: nothing is cast by a schema.
 *
 * @returns the indexes of those that were not stored
 */
export async function insertMissing<D extends { _id: string }>(
  model: Model<D>,
  documents: readonly D[],
): Promise<number[]> {
  const collection = driverCollection(model);
  const taken: number[] = [];
  for (let first = 0; first < documents.length; first += WRITES_AT_ONCE) {
    const inserts = documents
      .slice(first, first + WRITES_AT_ONCE)
      .map((document) => ({ insertOne: { document } })) as unknown as Writes<D>;
    const refused = await collection
      .bulkWrite(inserts, { ordered: false })
      .then(() => [], indexesOfDuplicates);
    taken.push(...refused.map((index) => first + index));
  }
  return taken;
}

/** Which writes of a batch failed because there is such a document already. @throws any other error */
function indexesOfDuplicates(error: unknown): number[] {
  if (!isDuplicateKey(error)) throw error;
  if (!(error instanceof mongo.MongoBulkWriteError)) return [0];
  return [error.writeErrors].flat().map(({ code, index }) => {
    if (code !== error.code) throw error;
    return index;
  });
}

/**
 * Stores documents, also in the place of one with the same `_id` whose number in a field is smaller. One whose number
 * is not smaller stays.
 */
export async function insertOrRaise<D extends { _id: string }>(
  model: Model<D>,
  documents: readonly D[],
  field: keyof D & string,
): Promise<void> {
  const raises = (await insertMissing(model, documents)).map((at) => {
    const { _id, ...fields } = documents[at] as D;
    return {
      updateOne: { filter: { _id, [field]: { $lt: documents[at]?.[field] } }, update: { $set: fields } },
    };
  });
  const collection = driverCollection(model);
  if (raises.length > 0) await collection.bulkWrite(raises as unknown as Writes<D>, { ordered: false });
}
