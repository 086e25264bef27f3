import type { Settings } from '../../config/schema.js';
import { createPayloadSealer, type PayloadSealer } from '../../domain/privacy/payload-sealer.js';
import { connectDatabase, type Database } from '../../models/database.js';
import { connectTemporal, type TemporalConnection } from '../../temporal/server/connection.js';
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
 * @throws Error that says what to do: a server cannot be reached, a setting is absent, or `hookline migrate` has not
 * been run
 */
export async function connectServers(settings: Settings): Promise<Servers> {
  const { mongodbUri, keysUri, temporal: temporalSettings } = requireServers(settings);
  const encryptsPayloads = settings.HOOKLINE_PAYLOAD_KEYS !== undefined;
  const options = {
    ...requireBoxes(settings),
    keysUri,
    changesDays: settings.HOOKLINE_CHANGES_DAYS,
    records: {
      records: settings.HOOKLINE_RECORD_DAYS,
      payloads: settings.HOOKLINE_PAYLOAD_DAYS,
    },
    encryptsPayloads,
    timings: settings.HOOKLINE_TEST_TIME_SCALE,
  };
  const [database, temporal] = await Promise.allSettled([
    checked(connectDatabase(mongodbUri, options), ({ dataKeyHome }) => dataKeyHome.require()),
    checked(connectTemporal(temporalSettings), (connection) =>
      requirePreparedNamespace(connection, temporalSettings.namespace),
    ),
  ]);
  if (database.status === 'fulfilled' && temporal.status === 'fulfilled') {
    const sealer = createPayloadSealer(database.value.dataKeys, encryptsPayloads);
    return { database: database.value, temporal: temporal.value, sealer };
  }
  for (const connected of [database, temporal]) {
    if (connected.status === 'fulfilled') await connected.value.close();
  }
  throw [database, temporal].find((connected) => connected.status === 'rejected')?.reason;
}

/** The connection, if it passes a check; otherwise it is closed. */
async function checked<T extends { close(): Promise<void> }>(
  connecting: Promise<T>,
  check: (connected: T) => Promise<void>,
): Promise<T> {
  const connected = await connecting;
  try {
    await check(connected);
    return connected;
  } catch (error) {
    await connected.close();
    throw error;
  }
}
