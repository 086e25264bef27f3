import { join, resolve } from 'node:path';
import type { Settings } from '../config/schema.js';
import { loadOrCreateAuthority, trustedFile } from '../demo/certificates.js';
import { runPurchase } from '../demo/purchase.js';
import { startDemoSubscriber } from '../demo/resident.js';
import { readDemoState, writeDemoState } from '../demo/state.js';
import { ACCOUNT_SCOPES } from '../domain/access/api-key.js';
import { SignInCodes, signInUrl } from '../domain/access/sign-in-codes.js';
import { OPERATOR } from '../domain/change/change.js';
import { startMongo } from '../embedded/servers/mongo.js';
import { startTemporal } from '../embedded/servers/temporal.js';
import { connectDatabase } from '../models/database.js';
import { migrate } from './migrate.js';
import { keepHeapsSmall } from './process/garbage.js';
import { createLogger, say, shortPath } from './process/output.js';
import { withSdkMetrics } from './process/sdk-metrics.js';
import { loadOrCreateKeys, requireSecretBox } from './process/secrets.js';
import { aborted, stopSignal } from './process/stop.js';
import { startService } from './service.js';

/** What the development default may connect to besides public addresses. */
const LOOPBACK_NETWORKS = ['127.0.0.0/8', '::1/128'];

/**
 * A whole system on this machine. The first start makes an account and shows one purchase on its way; each later one finds everything
 * as it was.
 */
export async function dev(given: Settings): Promise<void> {
  const configured = await withSdkMetrics(given);
  const dataDir = resolve(configured.HOOKLINE_DATA_DIR);
  const logFile = join(dataDir, 'logs', 'hookline.log');
  const logger = createLogger(configured, logFile);
  const stops: (() => Promise<void>)[] = [];
  const stopAll = async () => {
    for (const stop of stops.reverse()) await stop();
  };
  let serves = false;
  const stopped = stopSignal();
  stopped.addEventListener('abort', () => {
    say();
    say('Stopping: finishing the attempts in flight, then the servers.');
  });

  try {
    const [temporal, mongo] = await startServers(configured, dataDir, stops, stopped);
    const demoDir = join(dataDir, 'demo');
    const authority = await loadOrCreateAuthority(demoDir);
    const settings: Settings = {
      ...configured,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_UI_URL: configured.TEMPORAL_UI_URL ?? temporal.uiUrl,
      MONGODB_URI: mongo.uri,
      HOOKLINE_ALLOWED_NETWORKS: [...configured.HOOKLINE_ALLOWED_NETWORKS, ...LOOPBACK_NETWORKS],
      // One process counts by itself.
      HOOKLINE_RATE_LIMIT_STORE: 'memory',
      HOOKLINE_SECRET_KEYS:
        configured.HOOKLINE_SECRET_KEYS ?? (await loadOrCreateKeys(dataDir, 'secret.keys')),
      HOOKLINE_PAYLOAD_KEYS:
        configured.HOOKLINE_PAYLOAD_KEYS ?? (await loadOrCreateKeys(dataDir, 'payload.keys')),
      HOOKLINE_ENDPOINT_VERIFICATION: configured.HOOKLINE_ENDPOINT_VERIFICATION ?? 'off',
      HOOKLINE_EXTRA_CA_FILE: await trustedFile(authority, configured.HOOKLINE_EXTRA_CA_FILE, demoDir),
    };
    await migrate(settings, (line) => logger.info(line));
    stopped.throwIfAborted();

    keepHeapsSmall();
    const signIns = new SignInCodes();
    const development = { signIns, temporalUiUrl: temporal.uiUrl };
    const service = await startService(settings, 'all', logger, { development });
    stops.push(() => service.stop());
    serves = true;
    const apiUrl = service.url ?? '';
    say(`Hookline: ready at ${apiUrl}, log in ${shortPath(logFile)}.`);
    say("For development, endpoints may be on this machine, and the demo's certificates are trusted.");
    if (settings.HOOKLINE_ENDPOINT_VERIFICATION === 'off')
      say(
        'Endpoints are not verified before they receive events; set HOOKLINE_ENDPOINT_VERIFICATION=required to change that.',
      );

    stopped.throwIfAborted();
    const known = await readDemoState(dataDir);
    const state = known ?? (await createAccount(settings));
    const subscriber = await startDemoSubscriber({ state, authority, apiUrl, firstTime: !known });
    stops.push(() => subscriber.close());
    await writeDemoState(dataDir, {
      ...state,
      ...subscriber.registration,
      api_url: apiUrl,
      temporal_ui_url: settings.TEMPORAL_UI_URL,
    });
    if (!known) {
      say();
      say('The first start: an account for you, and one purchase on its way to a demo subscriber.');
      say();
      say(`Account     ${state.account_id}`);
      say(`API key     ${state.api_key}`);
      say(`            shown this once; ${shortPath(join(demoDir, 'state.json'))} keeps it for the demo`);
      await runPurchase({
        apiUrl,
        apiKey: state.api_key,
        temporalUiUrl: settings.TEMPORAL_UI_URL,
        namespace: settings.TEMPORAL_NAMESPACE,
        subscriber,
        say,
        signal: stopped,
      });
    } else if (settings.TEMPORAL_UI_URL) {
      say(`Temporal UI: ${settings.TEMPORAL_UI_URL}/namespaces/${settings.TEMPORAL_NAMESPACE}/workflows`);
    }
    say();
    say('In the browser, signed in; each link works once, for an hour:');
    for (const role of ['portal', 'desk'] as const)
      say(`  ${signInUrl(apiUrl, role, signIns.issue({ role, account_id: state.account_id }))}`);
    say();
    say('Running until Ctrl-C, which keeps the data. Next, in another terminal:');
    say('  npm run demo               another purchase');
    say('  npm run demo -- --fail 2   a subscriber that fails twice, so that you can watch the retries');

    await Promise.race([aborted(stopped), service.failed, temporal.failed, mongo.failed]);
  } catch (error) {
    // Whatever was being done was ended for this reason.
    if (!stopped.aborted) throw error;
  } finally {
    await stopAll();
  }
  say('Stopped.');
  // Temporal's runtime, once installed, keeps a process alive that never came to use it.
  if (!serves) process.exit(0);
}

async function startServers(
  settings: Settings,
  dataDir: string,
  stops: (() => Promise<void>)[],
  signal: AbortSignal,
) {
  const common = { dataDir, report: say, restart: true, signal };
  const starting = await Promise.allSettled([
    startTemporal({
      ...common,
      address: settings.TEMPORAL_ADDRESS,
      namespace: settings.TEMPORAL_NAMESPACE,
      port: settings.HOOKLINE_TEMPORAL_PORT,
      uiPort: settings.HOOKLINE_TEMPORAL_UI_PORT,
      codecUrl: codecUrlOf(settings),
    }),
    startMongo({ ...common, uri: settings.MONGODB_URI, port: settings.HOOKLINE_MONGODB_PORT }),
  ]);
  for (const started of starting) if (started.status === 'fulfilled') stops.push(() => started.value.stop());
  const [temporal, mongo] = starting;
  if (temporal.status === 'rejected') throw temporal.reason;
  if (mongo.status === 'rejected') throw mongo.reason;
  return [temporal.value, mongo.value] as const;
}

/** Where the browser finds the API, if that can be said before it listens. */
function codecUrlOf({ HOOKLINE_HOST: host, HOOKLINE_PORT: port }: Settings): string | undefined {
  return host === '127.0.0.1' && port !== 0 ? `http://${host}:${port}/codec` : undefined;
}

async function createAccount(settings: Settings): Promise<{ account_id: string; api_key: string }> {
  const database = await connectDatabase(settings.MONGODB_URI ?? '', {
    box: requireSecretBox(settings),
    changesDays: settings.HOOKLINE_CHANGES_DAYS,
  });
  try {
    const account = await database.accounts.create('demo', OPERATOR);
    const { key } = await database.apiKeys.create(account.id, 'demo', ACCOUNT_SCOPES, OPERATOR);
    return { account_id: account.id, api_key: key };
  } finally {
    await database.close();
  }
}
