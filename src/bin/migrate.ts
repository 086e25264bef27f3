import type { Settings } from '../config/schema.js';
import { connectTemporal } from '../temporal/server/connection.js';
import { prepareNamespace } from '../temporal/server/namespace.js';
import { requireServers } from './process/server-settings.js';
import { withDatabase } from './process/with-database.js';
import { prepareSchedule } from './service/record-schedule.js';

/**
 * Brings both servers to what this version needs: Temporal's namespace with retention and search attributes and
 * the Schedule that keeps records, MongoDB's indexes. Data keys are
 * moved to a MongoDB of their own if the settings name one. It can be run any number of times.
 *
 * @param report receives a line about what was moved
 * @throws Error if not all of it could be made
 */
export async function migrate(settings: Settings, report: (line: string) => void): Promise<void> {
  const servers = requireServers(settings);
  const temporal = await connectTemporal(servers.temporal);
  try {
    await prepareNamespace(
      temporal,
      {
        name: settings.TEMPORAL_NAMESPACE,
        retentionDays: settings.HOOKLINE_RETENTION_DAYS,
        address: servers.temporal.address,
      },
      report,
    );
    await prepareSchedule(settings, temporal.client);
  } finally {
    await temporal.close();
  }
  const { keysUri } = servers;
  await withDatabase(
    settings,
    () => ({ keysUri, operationTime: 'unlimited' }),
    async (database) => {
      const moved = await database.dataKeyHome.move();
      if (moved > 0) report(`Data keys that were moved to their own MongoDB: ${moved}`);
      await database.createIndexes();
    },
  );
}
