/** The servers of this test run. */
export interface TestServers {
  temporalAddress: string;
  namespace: string;
  mongodbUri: string;
}

let current: TestServers | undefined;

/** Called once, before the first test. */
export function setServers(servers: TestServers): void {
  current = servers;
}

/** The servers of this test run: real ones, shared by all tests. */
export function servers(): TestServers {
  if (!current) throw new Error('no servers: run the tests with mocha from the folder of the project');
  return current;
}
