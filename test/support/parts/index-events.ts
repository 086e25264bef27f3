import mongoose from 'mongoose';
import { events } from '../../../src/models/event/event-document.js';

const indexed = new Set<string>();

/**
 * Makes the one index of a database that a rule depends on: an idempotency key has one event. `hookline migrate` makes
 * all of them; in the small databases of tests the others change nothing, and cost each system half a second.
 */
export async function indexEvents(uri: string): Promise<void> {
  if (uri === '' || indexed.has(uri)) return;
  const connection = mongoose.createConnection(uri, { serverSelectionTimeoutMS: 2_000 });
  try {
    await connection.asPromise();
    await events(connection).collection.createIndex({ once: 1 }, { unique: true });
    indexed.add(uri);
  } catch {
    // A server that does not answer is what some tests are about.
  } finally {
    await connection.close();
  }
}
