import type { Settings } from '../../config/schema.js';
import { createPayloadSealer, type PayloadSealer } from '../../domain/privacy/payload-sealer.js';
import { connectDatabase, type Database } from '../../models/database.js';
import {
  connectTemporal,
  type TemporalConnection,
  type TemporalSettings,
} from '../../temporal/server/connection.js';
import { requirePreparedNamespace } from '../../temporal/server/namespace.js';
import { requireBoxes } from '../process/secrets.js';
import { requireServers } from '../process/server-settings.js';

/** The two servers a service stands on, connected. */
export interface Servers {
  database: Database;
  temporal: TemporalConnection;
  /** Seals payloads, by the settings, with keys from the database. */
  sealer: PayloadSealer;
}

/**
 * Connects to both servers at the same time.
 *
 * @throws Error that says what to do: a server cannot be reached, a setting is absent, or `hookline migrate` has not been run
 */
export async function connectServers(settings: Settings): Promise<Servers> {
  const { mongodbUri, keysUri, temporal: temporalSettings } = requireServers(settings);
  const [database, temporal] = await Promise.allSettled([
    connectWithKeys(mongodbUri, {
      ...requireBoxes(settings),
      keysUri,
      changesDays: settings.HOOKLINE_CHANGES_DAYS,
      archive: {
        records: settings.HOOKLINE_ARCHIVE_DAYS,
        payloads: settings.HOOKLINE_PAYLOAD_DAYS,
        ledgerDays: settings.HOOKLINE_RETENTION_DAYS,
      },
      encryptsPayloads: settings.HOOKLINE_PAYLOAD_KEYS !== undefined,
      timings: settings.HOOKLINE_TEST_TIME_SCALE,
    }),
    connectPrepared(temporalSettings),
  ]);
  if (database.status === 'fulfilled' && temporal.status === 'fulfilled') {
    const sealer = createPayloadSealer(database.value.dataKeys, settings.HOOKLINE_PAYLOAD_KEYS !== undefined);
    return { database: database.value, temporal: temporal.value, sealer };
  }
  for (const connected of [database, temporal]) {
    if (connected.status === 'fulfilled') await connected.value.close();
  }
  throw [database, temporal].find((connected) => connected.status === 'rejected')?.reason;
}

async function connectWithKeys(...given: Parameters<typeof connectDatabase>): Promise<Database> {
  const database = await connectDatabase(...given);
  try {
    await database.dataKeyHome.require();
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function connectPrepared(settings: TemporalSettings): Promise<TemporalConnection> {
  const temporal = await connectTemporal(settings);
  try {
    await requirePreparedNamespace(temporal, settings.namespace);
    return temporal;
  } catch (error) {
    await temporal.close();
    throw error;
  }
}
