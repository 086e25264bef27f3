import type { TemporalSettings } from '../../src/temporal/server/connection.js';
import { needs } from './needs.js';

needs('servers');

/** The servers of this test run. */
export interface TestServers {
  temporalAddress: string;
  namespace: string;
  mongodbUri: string;
  /** Key that Temporal demands, in the rehearsal of Temporal Cloud. */
  apiKey?: string;
}

/** Where programs that tests start would find them, too. */
const VARIABLE = 'TEST_SERVERS';

/** Called before the first test of this process. */
export function setServers(servers: TestServers): void {
  process.env[VARIABLE] = JSON.stringify(servers);
}

/** The servers of this test run: real ones, shared by all tests. */
export function servers(): TestServers {
  const current = process.env[VARIABLE];
  if (!current) throw new Error('no servers: run the tests with mocha from the folder of the project');
  return JSON.parse(current) as TestServers;
}

/** The URI of another database on a server, which may have several hosts and options. */
export function databaseIn(uri: string, database: string): string {
  const [, hosts, options = ''] = /^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?(\?.*)?$/.exec(uri) ?? [];
  if (!hosts) throw new Error('not a connection string of MongoDB');
  return `${hosts}/${database}${options}`;
}

/**
 * Keys that all systems of all runs have: some read what is in the namespace of others, such as the backlog of the
 * installation. No test encrypts with another key than these two.
 */
export const TEST_PAYLOAD_KEYS = [1, 2].map((id) => `test${id}:${Buffer.alloc(32, id).toString('base64')}`);

/** How a test connects to Temporal itself. */
export function temporalOfRun(): TemporalSettings {
  const { temporalAddress: address, namespace, apiKey } = servers();
  return {
    address,
    namespace,
    ...(apiKey !== undefined && { apiKey, tls: false }),
  };
}
