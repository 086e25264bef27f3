import type { Settings } from '../../config/schema.js';
import { connectDatabase, type Database } from '../../models/database.js';
import { connectTemporal, type TemporalConnection } from '../../temporal/server/connection.js';
import { requireServers } from '../migrate.js';
import { requireSecretBox } from '../secrets.js';

/** The two servers a service stands on, connected. */
export interface Servers {
  database: Database;
  temporal: TemporalConnection;
}

/**
 * Connects to both servers at the same time.
 *
 * @throws Error naming the server that cannot be reached, or the setting that is absent; the other connection is closed then
 */
export async function connectServers(settings: Settings): Promise<Servers> {
  const { mongodbUri, temporal: temporalSettings } = requireServers(settings);
  const [database, temporal] = await Promise.allSettled([
    connectDatabase(mongodbUri, requireSecretBox(settings)),
    connectTemporal(temporalSettings),
  ]);
  if (database.status === 'fulfilled' && temporal.status === 'fulfilled')
    return { database: database.value, temporal: temporal.value };
  for (const connected of [database, temporal])
    if (connected.status === 'fulfilled') await connected.value.close();
  throw [database, temporal].find((connected) => connected.status === 'rejected')?.reason;
}
