import { join, resolve } from 'node:path';
import { Hookline } from '../../clients/typescript/src/index.js';
import { startMongo, startTemporal } from '../../packages/embedded-servers/src/index.js';
import type { Settings } from '../config/schema.js';
import { loadOrCreateAuthority, trustedFile } from '../demo/certificates.js';
import { runPurchase } from '../demo/purchase.js';
import { deleteAbandoned, registerSubscriber, startRegistered } from '../demo/resident.js';
import { readDemoState, writeDemoState } from '../demo/state.js';
import { SignInCodes, signInUrl } from '../domain/access/sign-in-codes.js';
import { createAccount } from './account.js';
import { print } from './client/terminal.js';
import { migrate } from './migrate.js';
import { boundedRequest } from './process/bounded-fetch.js';
import { keepHeapsSmall } from './process/garbage.js';
import { createLogger, shortPath } from './process/output.js';
import { withSdkMetrics } from './process/sdk-metrics.js';
import { loadOrCreateKeys } from './process/secrets.js';
import { aborted, stopSignal } from './process/stop.js';
import { Stops } from './service/stops.js';
import { startService } from './service.js';

/** Networks that the development default may connect to besides public addresses. */
const LOOPBACK_NETWORKS = ['127.0.0.0/8', '::1/128'];

/**
 * A whole system on this machine. The first start makes an account and shows one purchase on its way; each later one
 * finds everything as it was.
 */
export async function dev(given: Settings): Promise<void> {
  const configured = await withSdkMetrics(given);
  const dataDir = resolve(configured.HOOKLINE_DATA_DIR);
  const logFile = join(dataDir, 'logs', 'hookline.log');
  const logger = createLogger(configured, logFile);
  const stops = new Stops();
  let serves = false;
  const stopped = stopSignal();
  stopped.addEventListener('abort', () => {
    print();
    print('Stopping: finishing the attempts in flight, then the servers.');
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
    const service = await startService(settings, 'all', logger, { development: { signIns } });
    stops.add(() => service.stop());
    serves = true;
    const apiUrl = service.url;
    print(`Hookline: ready at ${apiUrl}, log in ${shortPath(logFile)}.`);
    print("For development, endpoints may be on this machine, and the demo's certificates are trusted.");
    if (settings.HOOKLINE_ENDPOINT_VERIFICATION === 'off')
      print(
        'Endpoints are not verified before they receive events; set HOOKLINE_ENDPOINT_VERIFICATION=required to change that.',
      );

    stopped.throwIfAborted();
    const known = await readDemoState(dataDir);
    const account = known ?? (await createAccount(settings, 'demo', 'demo'));
    const { account_id, api_key } = account;
    const hookline = new Hookline({ url: apiUrl, token: api_key, fetch: boundedRequest });
    if (known) await deleteAbandoned(hookline);
    const subscriber = known
      ? await startRegistered(known, authority, hookline)
      : await registerSubscriber({ hookline, authority, description: 'demo subscriber' });
    stops.add(() => subscriber.close());
    const places = { api_url: apiUrl, temporal_ui_url: settings.TEMPORAL_UI_URL };
    await writeDemoState(dataDir, { account_id, api_key, ...subscriber.registration, ...places });
    if (!known) {
      print();
      print('The first start: an account for you, and one purchase on its way to a demo subscriber.');
      print();
      print(`Account     ${account_id}`);
      print(`API key     ${api_key}`);
      print(
        `            kept in ${shortPath(join(demoDir, 'state.json'))}, where commands in this folder find it`,
      );
      await runPurchase({
        hookline,
        apiUrl,
        temporalUiUrl: settings.TEMPORAL_UI_URL,
        namespace: settings.TEMPORAL_NAMESPACE,
        subscriber,
        say: print,
        signal: stopped,
      });
    } else if (settings.TEMPORAL_UI_URL) {
      print(`Temporal UI: ${settings.TEMPORAL_UI_URL}/namespaces/${settings.TEMPORAL_NAMESPACE}/workflows`);
    }
    print();
    print('In the browser, signed in; each link works once, for an hour:');
    for (const role of ['portal', 'desk'] as const)
      print(`  ${signInUrl(apiUrl, role, signIns.issue({ role, account_id }))}`);
    print();
    print('Running until Ctrl-C, which keeps the data. Next, in another terminal, in this folder:');
    print('  npm run demo               another purchase');
    print('  npm run demo -- --fail 2   a subscriber that fails twice, so that you can watch the retries');
    print(
      '  npx hookline deliveries    what went where; the key is found here. In any other folder, first paste',
    );
    print(`  export HOOKLINE_URL=${apiUrl} HOOKLINE_API_KEY=${api_key}`);

    await Promise.race([aborted(stopped), service.failed, temporal.failed, mongo.failed]);
  } catch (error) {
    // Whatever was being done was ended for this reason.
    if (!stopped.aborted) {
      // Later failures have the same cause.
      await stops.run().catch(() => {});
      throw error;
    }
  }
  await stops.run();
  print('Stopped.');
  // Temporal's runtime, once installed, keeps a process alive that never came to use it.
  if (!serves) process.exit(0);
}

async function startServers(settings: Settings, dataDir: string, stops: Stops, signal: AbortSignal) {
  const common = { dataDir, report: print, restart: true, signal };
  const starting = await Promise.allSettled([
    startTemporal({
      ...common,
      address: settings.TEMPORAL_ADDRESS,
      namespace: settings.TEMPORAL_NAMESPACE,
      port: settings.HOOKLINE_TEMPORAL_PORT,
      uiPort: settings.HOOKLINE_TEMPORAL_UI_PORT,
    }),
    startMongo({ ...common, uri: settings.MONGODB_URI, port: settings.HOOKLINE_MONGODB_PORT }),
  ]);
  for (const started of starting) if (started.status === 'fulfilled') stops.add(() => started.value.stop());
  const [temporal, mongo] = starting;
  if (temporal.status === 'rejected') throw temporal.reason;
  if (mongo.status === 'rejected') throw mongo.reason;
  return [temporal.value, mongo.value] as const;
}
