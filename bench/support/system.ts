import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startMongo, startTemporal } from '../../packages/embedded-servers/src/index.js';
import { migrate } from '../../src/bin/migrate.js';
import { requireSecretBox } from '../../src/bin/process/secrets.js';
import { loadSettings } from '../../src/config/load.js';
import { loadOrCreateAuthority } from '../../src/demo/certificates.js';
import { ACCOUNT_SCOPES } from '../../src/domain/access/api-key.js';
import { newSecretKey } from '../../src/domain/access/secret-box.js';
import { OPERATOR } from '../../src/domain/change/change.js';
import { connectDatabase } from '../../src/models/database.js';
import { registerDirectly } from './endpoints.js';
import { type ServiceProcess, startServiceProcess } from './service-process.js';
import { findProcess } from './usage.js';

/** A server that Hookline needs. */
export type ServerName = 'Temporal' | 'MongoDB';

/** The servers that a benchmark runs on: its own, empty, on free ports. */
export interface BenchServers {
  temporalAddress: string;
  namespace: string;
  /** Settings of a service on them, with a task queue and a database of its own. */
  environment(overrides?: Record<string, string>): Record<string, string>;
  authority: Awaited<ReturnType<typeof loadOrCreateAuthority>>;
  folder: string;
  /** A server's process; undefined if there is none now, or on a system without /proc. */
  pid(server: ServerName): Promise<number | undefined>;
  /** Sends a signal to a server's process. @throws if it is not found, as on a system without /proc */
  signal(server: ServerName, signal: NodeJS.Signals): Promise<void>;
  /** Starts a killed server again, at the same address with the same data. */
  restart(server: ServerName): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a Temporal server for a benchmark. Its command line names the folder and the port. */
export type TemporalStarter = (options: {
  dataDir: string;
  namespace: string;
  port: number;
  report: (line: string) => void;
}) => Promise<{ address: string; stop(): Promise<void> }>;

const embeddedTemporal: TemporalStarter = (options) => startTemporal({ ...options, uiPort: undefined });

/**
 * Starts Temporal, MongoDB and what a service needs in them.
 *
 * @param others what is used instead of the embedded servers: another Temporal server, a MongoDB server that runs
 */
export async function startServers(
  report: (line: string) => void,
  others: { temporal?: TemporalStarter; mongodbUri?: string | undefined } = {},
): Promise<BenchServers> {
  const folder = await mkdtemp(join(tmpdir(), 'hookline-bench-'));
  const namespace = 'bench';
  const { temporal: startLedger = embeddedTemporal, mongodbUri: uri } = others;
  const start = {
    Temporal: async (port: number) =>
      startLedger({ dataDir: folder, namespace, port: port === 0 ? await freePort() : port, report }),
    MongoDB: (port: number) =>
      startMongo({ dataDir: folder, port, report, ...(uri !== undefined && { uri }) }),
  };
  const [temporal, mongo, authority] = await Promise.all([
    start.Temporal(0),
    start.MongoDB(0),
    loadOrCreateAuthority(folder),
  ]);
  const ports = {
    Temporal: temporal.address.split(':')[1] ?? '',
    MongoDB: new URL(mongo.uri).port,
  };
  const started: { stop(): Promise<void> }[] = [temporal, mongo];
  // Its data is in our folder, so that no other server on that port is used by mistake.
  const pidOf = (server: ServerName) => findProcess(folder, ports[server]);
  const secretKey = newSecretKey();
  const payloadKey = newSecretKey();
  const environment = (overrides: Record<string, string> = {}) => {
    const name = `b${randomBytes(4).toString('hex')}`;
    const uri = new URL(mongo.uri);
    uri.pathname = `/${name}`;
    return {
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: namespace,
      MONGODB_URI: uri.href,
      HOOKLINE_PORT: '0',
      HOOKLINE_DRAIN: '0s',
      HOOKLINE_TASK_QUEUE: name,
      HOOKLINE_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128',
      HOOKLINE_ALLOW_HTTP: 'true',
      HOOKLINE_EXTRA_CA_FILE: authority.certFile,
      HOOKLINE_LOG_LEVEL: 'error',
      HOOKLINE_SECRET_KEYS: secretKey,
      HOOKLINE_PAYLOAD_KEYS: payloadKey,
      HOOKLINE_ENDPOINT_VERIFICATION: 'off',
      // Every two minutes it would fall into one part or another. It is measured by itself.
      HOOKLINE_LOG_INTERVAL: 'off',
      // The limits are on, as `hookline dev` counts them, and out of the way.
      HOOKLINE_RATE_LIMIT_STORE: 'memory',
      HOOKLINE_RATE_LIMIT_ACCOUNT: '100000000/1m',
      HOOKLINE_RATE_LIMIT_TOKEN: '100000000/1m',
      ...overrides,
    };
  };
  // For Temporal's namespace: what is measured without a system needs its search attributes.
  await migrate(loadSettings(environment()), () => {});
  return {
    temporalAddress: temporal.address,
    namespace,
    environment,
    authority,
    folder,
    pid: pidOf,
    async signal(server, signal) {
      const pid = await pidOf(server);
      if (pid === undefined) throw new Error(`the process of ${server} is not found`);
      process.kill(pid, signal);
    },
    async restart(server) {
      started.push(await start[server](Number(ports[server])));
    },
    async stop() {
      await Promise.all(started.map((server) => server.stop()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** An account of a service, as its producer sees it. */
export interface BenchAccount {
  id: string;
  url: string;
  key: string;
  /** Registers an endpoint for purchases. */
  register(targetUrl: string): Promise<void>;
  /** Registers many, past the API. */
  registerMany(targetUrls: readonly string[]): Promise<void>;
}

/** A running service, and a first account of it. */
export interface BenchSystem extends ServiceProcess, BenchAccount {
  taskQueue: string;
  environment: Record<string, string>;
  newAccount(): Promise<BenchAccount>;
}

/** Starts a service in a process of its own. */
export async function startBenchSystem(
  servers: BenchServers,
  overrides: Record<string, string> = {},
  script?: string,
  wrapper?: readonly string[],
): Promise<BenchSystem> {
  const environment = servers.environment(overrides);
  // Its database is its own, and would have no indexes: writes would cost less, and reads more.
  await migrate(loadSettings(environment), () => {});
  const service = await startServiceProcess(environment, script, wrapper);
  const newAccount = () => createAccount(environment, service.url);
  return {
    ...(await newAccount()),
    ...service,
    taskQueue: environment['HOOKLINE_TASK_QUEUE'] ?? '',
    environment,
    newAccount,
  };
}

/** Makes an account in the database of a service. @param url of the service */
export async function createAccount(environment: Record<string, string>, url: string): Promise<BenchAccount> {
  const box = requireSecretBox(loadSettings(environment));
  const database = await connectDatabase(environment['MONGODB_URI'] ?? '', { box });
  const account = await database.accounts.create('bench', OPERATOR);
  const { key } = await database.apiKeys.create(account.id, 'bench', ACCOUNT_SCOPES, OPERATOR);
  await database.close();
  return {
    id: account.id,
    url,
    key,
    async register(targetUrl) {
      const response = await fetch(`${url}/v18.0/endpoints`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ target_url: targetUrl, event_kinds: ['purchase'] }),
      });
      if (response.status === 201) return;
      throw new Error(`registration answered ${response.status}: ${await response.text()}`);
    },
    async registerMany(targetUrls) {
      const { endpoints, close } = await connectDatabase(environment['MONGODB_URI'] ?? '', { box });
      await registerDirectly(endpoints, account.id, targetUrls);
      await close();
    },
  };
}

/** Starts a service again that has ended, with everything it had. */
export function restartBenchSystem(system: BenchSystem): Promise<ServiceProcess> {
  return startServiceProcess(system.environment);
}
