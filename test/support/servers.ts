/** The servers of this test run. */
export interface TestServers {
  temporalAddress: string;
  namespace: string;
  mongodbUri: string;
}

/** Test files run in processes of their own, which get it from the one that started the servers. */
const VARIABLE = 'TEST_SERVERS';

/** Called once, before the first test. */
export function setServers(servers: TestServers): void {
  process.env[VARIABLE] = JSON.stringify(servers);
}

/** The servers of this test run: real ones, shared by all tests. */
export function servers(): TestServers {
  const current = process.env[VARIABLE];
  if (!current) throw new Error('no servers: run the tests with mocha from the folder of the project');
  return JSON.parse(current) as TestServers;
}
