import type { Model } from 'mongoose';

/** Leaf of a record of which its document says that the log has it, and not where: no leaf has this number. */
export const NO_LEAF = -1;

/** A document whose record goes to the log. */
interface Logged {
  _id: string;
  in_log?: boolean | null | undefined;
  leaf_index?: number | null | undefined;
}

/** Records that the log has the records of these documents. @param numbers of their leaves, by id */
export async function noteInLog<D extends Logged>(
  model: Model<D>,
  numbers: ReadonlyMap<string, number>,
): Promise<void> {
  if (numbers.size === 0) return;
  await (model as unknown as Model<Logged>).bulkWrite(
    [...numbers].map(([_id, leaf_index]) => ({
      updateOne: { filter: { _id }, update: { $set: { in_log: true, leaf_index } } },
    })),
    { ordered: false },
  );
}
