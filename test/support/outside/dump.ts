import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import mongoose from 'mongoose';

const { BSON, MongoClient } = mongoose.mongo;

/** Writes a database into a folder, a file for each collection, as `mongodump` does. */
export async function dump(uri: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await withDatabase(uri, async (database) => {
    for (const { name } of await database.listCollections().toArray()) {
      const documents = await database.collection(name).find().toArray();
      await writeFile(join(folder, name), BSON.EJSON.stringify(documents, { relaxed: false }));
    }
  });
}

/** Makes a database what it was when it was dumped: what has been written since is gone. Indexes stay. */
export async function restore(uri: string, folder: string): Promise<void> {
  await withDatabase(uri, async (database) => {
    for (const { name } of await database.listCollections().toArray())
      await database.collection(name).deleteMany({});
    for (const name of await readdir(folder)) {
      const documents = BSON.EJSON.parse(await readFile(join(folder, name), 'utf8'), { relaxed: false });
      // A service that is running may have written one of them again by now.
      const writes = documents.map((replacement: { _id: never }) => ({
        replaceOne: { filter: { _id: replacement._id }, replacement, upsert: true },
      }));
      if (writes.length > 0) await database.collection(name).bulkWrite(writes);
    }
  });
}

async function withDatabase(uri: string, use: (database: mongoose.mongo.Db) => Promise<void>): Promise<void> {
  const client = await MongoClient.connect(uri);
  try {
    await use(client.db());
  } finally {
    await client.close();
  }
}
