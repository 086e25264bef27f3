import mongoose from 'mongoose';
import { TIMINGS } from '../../../src/domain/timings.js';
import { LoginRepository } from '../../../src/models/access/logins.js';
import { ChangeRepository } from '../../../src/models/change/changes.js';
import { events } from '../../../src/models/event/event-document.js';
import { ScheduledEvents } from '../../../src/models/event/scheduled-events.js';
import { OrderPlaceRepository } from '../../../src/models/order/order-places.js';

const indexed = new Set<string>();

/** Makes models of the collections of which a field is unique. */
export function modelsWithUnique(connection: mongoose.Connection): void {
  events(connection);
  new LoginRepository(connection, new ChangeRepository(connection, 1, undefined, TIMINGS));
  new OrderPlaceRepository(connection);
  new ScheduledEvents(connection, undefined);
}

/** The unique fields of a connection's models, by collection. */
export function uniqueIndexes({ models }: mongoose.Connection): [string, Record<string, 1>][] {
  return Object.values(models).flatMap(({ schema, collection }) =>
    schema
      .indexes()
      .flatMap(([key, { unique }]): [string, Record<string, 1>][] =>
        unique ? [[collection.name, key as Record<string, 1>]] : [],
      ),
  );
}

/**
 * Makes the indexes of a database that rules depend on: an idempotency key has one event, a delivery one place in an
 * order. `hookline migrate` makes all of them; in the small databases of tests the others change nothing, and cost each
 * system half a second.
 */
export async function makeUniqueIndexes(uri: string): Promise<void> {
  if (uri === '' || indexed.has(uri)) return;
  const connection = mongoose.createConnection(uri, {
    ...{ serverSelectionTimeoutMS: 2_000, autoIndex: false, autoCreate: false },
  });
  modelsWithUnique(connection);
  try {
    await connection.asPromise();
    for (const [name, key] of uniqueIndexes(connection))
      await connection.collection(name).createIndex(key, { unique: true });
    indexed.add(uri);
  } catch {
    // A server that does not answer is what some tests are about.
  } finally {
    await connection.close();
  }
}
