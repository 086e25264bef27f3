import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { migrate } from '../../src/bin/migrate.js';
import { loadSettings } from '../../src/config/load.js';
import { type EmbeddedMongo, startMongo } from '../../src/embedded/servers/mongo.js';
import { type EmbeddedTemporal, startTemporal } from '../../src/embedded/servers/temporal.js';
import { installRuntime } from '../../src/temporal/server/connection.js';
import { CLOUD_VISIBILITY_PER_SECOND } from '../../src/temporal/server/temporal-cloud.js';
import { endShared } from './at-end.js';
import { type CloudFrontend, startCloudFrontend } from './outside/cloud-frontend.js';
import { buildOnce } from './programs/build.js';
import { databaseIn, setServers } from './servers.js';
import { countIn } from './started.js';
import { forgetWarnings, warnings } from './warnings.js';

let folder: string | undefined;
let temporal: EmbeddedTemporal | undefined;
let mongo: Pick<EmbeddedMongo, 'uri' | 'stop'> | undefined;
let cloud: CloudFrontend | undefined;

/** Sets the SDK up in each process that runs tests. */
export const mochaHooks = {
  beforeAll(): void {
    installRuntime(pino({ level: 'warn' }, warnings), undefined);
  },
  beforeEach: forgetWarnings,
};

/**
 * Starts a Temporal and a MongoDB server for the whole run, empty, on free ports. Servers of the environment are not
 * used: tests must not write to them. `TEST_MONGODB_URI` names one that they may write to, in databases of their own.
 */
export async function mochaGlobalSetup(): Promise<void> {
  try {
    await startServersOfRun();
  } catch (error) {
    // Mocha says why, and would then wait for these servers.
    process.exitCode = 1;
    await mochaGlobalTeardown();
    throw error;
  }
}

/**
 * @param suggestContinueAsNewAfter the length of a history, in events, from which Temporal suggests to continue in a
 * new run
 */
export async function startServersOfRun(suggestContinueAsNewAfter?: number): Promise<void> {
  const report = (line: string) => process.stderr.write(`${line}\n`);
  mochaHooks.beforeAll();
  folder = await mkdtemp(join(tmpdir(), 'hookline-test-'));
  countIn(join(folder, 'started'));
  const namespace = 'hookline-test';
  const starts = [
    startTemporal({
      dataDir: folder,
      namespace,
      port: 0,
      uiPort: undefined,
      report,
      persistent: false,
      suggestContinueAsNewAfter,
      limits: isCloud ? CLOUD_LIMITS : undefined,
    }).then((started) => {
      temporal = started;
      return started;
    }),
    mongodbOfRun(folder, report).then((started) => {
      mongo = started;
      return started;
    }),
    buildOnce(),
  ] as const;
  // What has started is known, and stopped, also if another one or the build fails.
  await Promise.allSettled(starts);
  const [{ address }, { uri }] = await Promise.all(starts);
  const settings = { TEMPORAL_NAMESPACE: namespace, MONGODB_URI: uri };
  await migrate(loadSettings({ ...settings, TEMPORAL_ADDRESS: address }), () => {});
  setServers({ temporalAddress: address, namespace, mongodbUri: uri });
  if (isCloud) await goThroughCloud(address, settings);
}

/**
 * Whether this run rehearses Temporal Cloud (`npm run test:cloud`): an API key is demanded, nothing may be
 * administered, lists have a limit.
 */
const isCloud = process.env['TEST_CLOUD'] === '1';
/**
 * Not to be changed there (https://docs.temporal.io/cloud/limits,
 * https://docs.temporal.io/search-attribute#custom-search-attribute-limits). Those of payloads, histories and messages
 * are the server's own.
 */
const CLOUD_LIMITS = { visibilityPerSecond: CLOUD_VISIBILITY_PER_SECOND, searchAttributeBytes: 2_048 };

async function goThroughCloud(
  upstream: string,
  settings: { TEMPORAL_NAMESPACE: string; MONGODB_URI: string },
): Promise<void> {
  const apiKey = 'key-of-the-rehearsal';
  cloud = await startCloudFrontend({ upstream, apiKey });
  setServers({
    temporalAddress: cloud.address,
    namespace: settings.TEMPORAL_NAMESPACE,
    mongodbUri: settings.MONGODB_URI,
    apiKey,
  });
  // What somebody has prepared is enough.
  await migrate(
    loadSettings({
      ...settings,
      TEMPORAL_ADDRESS: cloud.address,
      TEMPORAL_API_KEY: apiKey,
      TEMPORAL_TLS: 'false',
    }),
    (line) => process.stderr.write(`${line}\n`),
  );
}

function mongodbOfRun(
  dataDir: string,
  report: (line: string) => void,
): Promise<Pick<EmbeddedMongo, 'uri' | 'stop'>> {
  const uri = process.env['TEST_MONGODB_URI'];
  if (!uri) return startMongo({ dataDir, port: 0, report, persistent: false });
  report(`MongoDB: that of TEST_MONGODB_URI, in databases of the run's own, which stay.`);
  return Promise.resolve({ uri: databaseIn(uri, 'hookline'), stop: () => Promise.resolve() });
}

export async function mochaGlobalTeardown(): Promise<void> {
  await endShared();
  await cloud?.close();
  await temporal?.stop();
  await mongo?.stop();
  // The SDK ends its runtime with the last connection; where the tests of this process had none, it would keep the
  // process.
  await Runtime.instance().shutdown();
  if (folder) await rm(folder, { recursive: true, force: true });
}
