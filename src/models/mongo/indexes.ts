import type { Connection, Model } from 'mongoose';

/** Makes every index that the models declare. @returns a line for each collection whose indexes the server cannot make */
export async function createIndexes(connection: Connection): Promise<{ skipped: string[] }> {
  const skipped: string[] = [];
  for (const model of Object.values(connection.models)) {
    try {
      await model.createIndexes();
    } catch (error) {
      skipped.push(`${model.collection.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { skipped };
}

/** Names of the collections that lack an index which their model declares. */
export async function collectionsWithoutIndexes(connection: Connection): Promise<string[]> {
  const lacking = await Promise.all(
    Object.values(connection.models).map(async (model) =>
      (await lacksIndex(model)) ? [model.collection.name] : [],
    ),
  );
  return lacking.flat();
}

/** The server's code for a collection that does not exist. */
const NO_COLLECTION = 26;

async function lacksIndex(model: Model<unknown>): Promise<boolean> {
  const declared = model.schema.indexes();
  if (declared.length === 0) return false;
  const existing = await model.collection.indexes().catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === NO_COLLECTION) return [];
    throw error;
  });
  const keys = new Set(existing.map(({ key }) => JSON.stringify(key)));
  return declared.some(([key]) => !keys.has(JSON.stringify(key)));
}
