import type { Model, mongo } from 'mongoose';
import { insertMissing } from '../mongo/insert-missing.js';

/** Stores documents, also in the place of one with the same `_id` whose number in a field is smaller. One whose number is not smaller stays. */
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
  const collection = model.collection as unknown as mongo.Collection;
  type Writes = Parameters<typeof collection.bulkWrite>[0];
  if (raises.length > 0) await collection.bulkWrite(raises as unknown as Writes, { ordered: false });
}
