import type { Settings } from '../config/schema.js';
import { connectDatabase } from '../models/database.js';
import { connectTemporal, type TemporalSettings } from '../temporal/server/connection.js';
import { prepareNamespace } from '../temporal/server/namespace.js';

/** The servers a process works with. */
export interface Servers {
  temporal: TemporalSettings;
  mongodbUri: string;
}

/** The servers that the settings name. @throws Error naming the setting that is absent */
export function requireServers(settings: Settings): Servers {
  const { TEMPORAL_ADDRESS: address, MONGODB_URI: mongodbUri } = settings;
  const absent = [...(address ? [] : ['TEMPORAL_ADDRESS']), ...(mongodbUri ? [] : ['MONGODB_URI'])];
  if (!address || !mongodbUri) {
    throw new Error(`Set ${absent.join(' and ')}, or run "hookline dev", which starts what is missing.`);
  }
  return {
    temporal: {
      address,
      namespace: settings.TEMPORAL_NAMESPACE,
      api_key: settings.TEMPORAL_API_KEY,
      tls: settings.TEMPORAL_TLS,
    },
    mongodbUri,
  };
}

/**
 * Brings both servers to what this version needs: Temporal's namespace with retention and search attributes, MongoDB's indexes. It can
 * be run any number of times.
 *
 * @param report told of what could not be made; the service works without, more slowly
 */
export async function migrate(settings: Settings, report: (line: string) => void): Promise<void> {
  const servers = requireServers(settings);
  const temporal = await connectTemporal(servers.temporal);
  try {
    await prepareNamespace(temporal, {
      name: settings.TEMPORAL_NAMESPACE,
      retention_days: settings.HOOKLINE_RETENTION_DAYS,
    });
  } finally {
    await temporal.close();
  }
  const database = await connectDatabase(servers.mongodbUri, undefined, 'unlimited');
  try {
    const { skipped } = await database.createIndexes();
    for (const index of skipped) report(`MongoDB: without an index, ${index}`);
  } finally {
    await database.close();
  }
}
