import { loadSettings } from '../../../src/config/load.js';
import { connectTemporal } from '../../../src/temporal/server/connection.js';
import { temporalOfRun } from '../servers.js';
import { type TestSystem, testEnvironment } from '../system.js';

/**
 * Temporal, and a task queue that nobody serves, without a service: for tests that run workflows over activities of
 * their own, which takes the start of a system less.
 */
export async function connectLedger(): Promise<
  Pick<TestSystem, 'temporal' | 'settings'> & { close(): Promise<void> }
> {
  const settings = loadSettings(await testEnvironment());
  const temporal = await connectTemporal(temporalOfRun());
  return { settings, temporal, close: () => temporal.close() };
}
