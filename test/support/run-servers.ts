import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedMongo, startMongo, startTemporal } from '../../packages/embedded-servers/src/index.js';
import { migrate } from '../../src/bin/migrate.js';
import { loadSettings } from '../../src/config/load.js';
import { CLOUD_VISIBILITY_PER_SECOND } from '../../src/temporal/server/temporal-cloud.js';
import { type CloudFrontend, startCloudFrontend } from './outside/cloud-frontend.js';
import { buildOnce } from './programs/build.js';
import { endSdk, installSdk } from './sdk.js';
import { databaseIn, type TestServers } from './servers.js';

/** The servers of a run. */
export interface ServersOfRun {
  servers: TestServers;
  stop(): Promise<void>;
}

const NAMESPACE = 'hookline-test';

/**
 * Starts a Temporal and a MongoDB server, empty, on free ports, and builds Hookline meanwhile. Servers of the
 * environment are not used: tests must not write to them. `TEST_MONGODB_URI` names one that they may write to, in
 * databases of their own.
 *
 * @param suggestContinueAsNewAfter the length of a history, in events, from which Temporal suggests to continue in a
 * new run
 * @throws Error where one of them, or the build, fails; nothing runs then
 */
export async function startServersOfRun(suggestContinueAsNewAfter?: number): Promise<ServersOfRun> {
  const report = (line: string) => process.stderr.write(`${line}\n`);
  installSdk();
  const dataDir = await mkdtemp(join(tmpdir(), 'hookline-test-'));
  const ends: (() => Promise<unknown>)[] = [() => rm(dataDir, { recursive: true, force: true }), endSdk];
  const stop = async () => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    const starts = [
      startTemporal({
        dataDir,
        namespace: NAMESPACE,
        port: 0,
        uiPort: undefined,
        report,
        persistent: false,
        suggestContinueAsNewAfter,
        limits: isCloud ? CLOUD_LIMITS : undefined,
      }).then((started) => {
        ends.push(() => started.stop());
        return started;
      }),
      mongodbOfRun(dataDir, report).then((started) => {
        ends.push(() => started.stop());
        return started;
      }),
      buildOnce(),
    ] as const;
    // What has started is known, and stopped, also if another one or the build fails.
    await Promise.allSettled(starts);
    const [{ address }, { uri }] = await Promise.all(starts);
    const settings = { TEMPORAL_NAMESPACE: NAMESPACE, MONGODB_URI: uri };
    await migrate(loadSettings({ ...settings, TEMPORAL_ADDRESS: address }), () => {});
    const servers = { temporalAddress: address, namespace: NAMESPACE, mongodbUri: uri };
    if (!isCloud) return { servers, stop };
    const { frontend, apiKey } = await goThroughCloud(address, settings);
    ends.push(() => frontend.close());
    return { servers: { ...servers, temporalAddress: frontend.address, apiKey }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
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
): Promise<{ frontend: CloudFrontend; apiKey: string }> {
  const apiKey = 'key-of-the-rehearsal';
  const frontend = await startCloudFrontend({ upstream, apiKey });
  // What somebody has prepared is enough.
  await migrate(
    loadSettings({
      ...settings,
      TEMPORAL_ADDRESS: frontend.address,
      TEMPORAL_API_KEY: apiKey,
      TEMPORAL_TLS: 'false',
    }),
    (line) => process.stderr.write(`${line}\n`),
  );
  return { frontend, apiKey };
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
