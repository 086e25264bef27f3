import type { Settings } from '../../config/schema.js';
import { connectDatabase, type Database } from '../../models/database.js';
import { requireServers } from './server-settings.js';

/** Does something with the database that the settings name, and closes it. @param options how it is used */
export async function withDatabase<T>(
  settings: Settings,
  options: () => Parameters<typeof connectDatabase>[1],
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await connectDatabase(requireServers(settings).mongodbUri, options());
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
