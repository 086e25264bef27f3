import { randomBytes } from 'node:crypto';
import { type Logger, pino } from 'pino';
import { migrate } from '../../src/bin/migrate.js';
import { requireBoxes } from '../../src/bin/process/secrets.js';
import { requireServers } from '../../src/bin/process/server-settings.js';
import { type Role, type Service, startService } from '../../src/bin/service.js';
import { loadSettings } from '../../src/config/load.js';
import type { Settings } from '../../src/config/schema.js';
import { ACCOUNT_SCOPES, type Scope } from '../../src/domain/access/api-key.js';
import { newSecretKey } from '../../src/domain/access/secret-box.js';
import { OPERATOR } from '../../src/domain/change/change.js';
import { createPayloadSealer, type PayloadSealer } from '../../src/domain/privacy/payload-sealer.js';
import { connectDatabase, type Database } from '../../src/models/database.js';
import { connectTemporal, type TemporalConnection } from '../../src/temporal/server/connection.js';
import { type ApiClient, apiClient } from './api-client.js';
import { atEnd } from './at-end.js';
import { makeUniqueIndexes } from './parts/unique-indexes.js';
import { testAuthority } from './receiver.js';
import { databaseIn, servers, TEST_PAYLOAD_KEYS } from './servers.js';
import { countStart } from './started.js';
import { warnings } from './warnings.js';

/** A Hookline service of a test's own: its own database and task queue, on the run's servers. */
export interface TestSystem {
  service: Service;
  url: string;
  /** Environment with which a process of its own would be started. */
  environment: Record<string, string>;
  settings: Settings;
  database: Database;
  temporal: TemporalConnection;
  sealer: PayloadSealer;
  /** A new account, and a client with a key of it. */
  account(scopes?: readonly Scope[]): Promise<ApiClient>;
  stop(): Promise<void>;
}

/**
 * A fifth of the waits that rules fix, for tests that wait for several of them. The shortest ones are still longer than
 * what they wait for: caches of accounts, attempts under way, visibility. Others look at what is not to change
 * meanwhile, such as an incident before its probe.
 */
export const SHORT_WAITS = { HOOKLINE_TEST_TIME_SCALE: '0.2' };

/**
 * For tests that look at what is under way: attempts that hang are not given up meanwhile, and endpoints that fail are
 * not asked again.
 */
export const UNHURRIED = { HOOKLINE_PROBE_INTERVAL: '1h', HOOKLINE_ATTEMPT_TIMEOUT: '60s' };

/**
 * An endpoint that fails is disabled after a moment, and asked all the time until then. Its incident must have heard of
 * a failure in the second half of that time, or it lapses and another one opens: on a busy machine an attempt and its
 * report take a second.
 */
export const IMPATIENT = { HOOKLINE_DISABLE_AFTER: '4s', HOOKLINE_PROBE_INTERVAL: '60ms' };

/**
 * The waits between attempts at an endpoint that is to be disabled so: fewer failures than have deliveries wait, and
 * not all of them.
 */
export const UNTIL_DISABLED = { retry_schedule: Array<string>(15).fill('500ms') };

/** Each delivery has an execution of its own, also in a moment of many: for tests that read one in Temporal. */
export const ONE_BY_ONE = { HOOKLINE_GROUP_COMMIT: 'off' };

/** Behind a proxy that says who calls. */
export const PROXIED = { HOOKLINE_PROXY_HOPS: '1' };

/** Published below a path of another server. */
export const BELOW_A_PATH = { HOOKLINE_PUBLIC_URL: 'https://example.com/hooks' };

/** Settings that refuse an address after five tries of a password. */
export const FIVE_LOGINS = { ...PROXIED, HOOKLINE_RATE_LIMIT_LOGIN: '5/1d' };

/** Endpoints are verified, once asked: they are asked again an hour later. Each of their deliveries is an execution. */
export const VERIFYING = {
  ...PROXIED,
  HOOKLINE_ENDPOINT_VERIFICATION: 'required',
  HOOKLINE_VERIFICATION_SCHEDULE: '1h',
  HOOKLINE_PUBLIC_URL: 'https://hooks.example.com',
  ...ONE_BY_ONE,
};

/**
 * The environment of a system of its own: database, task queue, free port, loopback allowed, test authority trusted.
 */
export async function testEnvironment(
  overrides: Record<string, string> = {},
): Promise<Record<string, string>> {
  const { temporalAddress, namespace, mongodbUri, apiKey } = servers();
  const name = `t${randomBytes(6).toString('hex')}`;
  return {
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_NAMESPACE: namespace,
    ...(apiKey !== undefined && {
      TEMPORAL_API_KEY: apiKey,
      TEMPORAL_TLS: 'false',
      // The rest of what Temporal Cloud has room for is for what the tests ask themselves.
      HOOKLINE_VISIBILITY_PER_SECOND: '20',
    }),
    MONGODB_URI: databaseIn(mongodbUri, name),
    HOOKLINE_PORT: '0',
    // Nothing is in front of it that would have to see that it stops.
    HOOKLINE_DRAIN: '0s',
    HOOKLINE_TASK_QUEUE: name,
    HOOKLINE_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128',
    HOOKLINE_EXTRA_CA_FILE: (await testAuthority()).certFile,
    HOOKLINE_LOG_LEVEL: 'silent',
    // Tests ask again and again until something has happened. Those of the limits set their own.
    HOOKLINE_RATE_LIMIT_TOKEN: 'off',
    HOOKLINE_RATE_LIMIT_ACCOUNT: 'off',
    HOOKLINE_RATE_LIMIT_ADDRESS: 'off',
    HOOKLINE_RATE_LIMIT_STORE: 'memory',
    HOOKLINE_SECRET_KEYS: newSecretKey(),
    HOOKLINE_PAYLOAD_KEYS: TEST_PAYLOAD_KEYS.join(),
    // Tests of `keepRecords` run it when they want it.
    HOOKLINE_LOG_INTERVAL: 'off',
    HOOKLINE_ENDPOINT_VERIFICATION: 'off',
    // What is to be retried while a test waits says so: an endpoint may have a schedule of its own.
    HOOKLINE_RETRY_SCHEDULE: '1h',
    // More than any test registers that is not about their number.
    HOOKLINE_MAX_ENDPOINTS: '200',
    // Receivers share a thread with the tests and the service, and may be slow where much goes on.
    HOOKLINE_ATTEMPT_TIMEOUT: '10s',
    ...overrides,
  };
}

/**
 * Starts a system in this process.
 *
 * @param overrides settings by their names in the environment, such as a shorter retry schedule
 * @param logger takes the log, for a test that reads it
 */
export async function startSystem(
  overrides: Record<string, string> = {},
  role: Role = 'all',
  logger?: Logger,
): Promise<TestSystem> {
  countStart('system');
  const environment = await testEnvironment(overrides);
  const settings = loadSettings(environment);
  await makeUniqueIndexes(environment['MONGODB_URI'] ?? '');
  const service = await startService(settings, role, logger ?? pino({ level: 'warn' }, warnings));
  const database = await connectDatabase(environment['MONGODB_URI'] ?? '', {
    ...requireBoxes(settings),
    keysUri: settings.HOOKLINE_KEYS_MONGODB_URI,
    records: { records: settings.HOOKLINE_RECORD_DAYS, payloads: settings.HOOKLINE_PAYLOAD_DAYS },
  });
  const temporal = await connectTemporal(requireServers(settings).temporal);
  const url = service.url ?? '';
  return {
    service,
    url,
    environment,
    settings,
    database,
    temporal,
    sealer: createPayloadSealer(database.dataKeys, settings.HOOKLINE_PAYLOAD_KEYS !== undefined),
    account: (scopes = ACCOUNT_SCOPES) => newAccount(database, url, scopes),
    async stop() {
      await service.stop();
      await temporal.close();
      await database.close();
    },
  };
}

/**
 * Starts a system in a namespace of its own: it sees nothing of what other systems of this run have in Temporal.
 *
 * @param name what the namespace is called after
 */
export async function startApart(name: string, overrides: Record<string, string> = {}): Promise<TestSystem> {
  const apart = { ...overrides, TEMPORAL_NAMESPACE: `${name}-${Date.now()}` };
  await migrate(loadSettings(await testEnvironment(apart)), () => {});
  return startSystem(apart);
}

/** A system that tests share: none of them stops it. */
export type SharedSystem = Omit<TestSystem, 'stop'>;

/** In the order in which they were last asked for. */
const shared = new Map<string, Promise<TestSystem>>();
/**
 * So many shared systems run in a process. One that does nothing costs 5 ms of processor a second, as much as a start
 * in a minute and a half: its two connections to MongoDB ask each second whether the server is there. No file of tests
 * asks for as many.
 */
const MOST_SHARED = 5;

/**
 * The system with these settings that all tests of this process share: what a test makes belongs to accounts of its
 * own. It is started when it is first asked for, and stopped when so many others have been asked for since that the
 * tests which had it are over. Tests that stop a system, starve it, read all of its database or count what it does
 * start one of their own.
 */
export function sharedSystem(
  overrides: Record<string, string> = {},
  role: Role = 'all',
): Promise<SharedSystem> {
  const name = JSON.stringify([role, Object.entries(overrides).sort()]);
  const system = shared.get(name) ?? startSystem(overrides, role);
  shared.delete(name);
  shared.set(name, system);
  const [oldest] = shared.keys();
  if (shared.size > MOST_SHARED && oldest !== undefined) void stopShared(oldest);
  return system;
}

/** Another process over the database of a system, which serves its API as well, at the same public address. */
export function secondProcess({ environment, url }: SharedSystem): Promise<SharedSystem> {
  const { MONGODB_URI = '' } = environment;
  return sharedSystem({ MONGODB_URI, HOOKLINE_PUBLIC_URL: url }, 'api');
}

atEnd(async () => {
  await Promise.all([...shared.keys()].map(stopShared));
});

async function stopShared(name: string): Promise<void> {
  const system = shared.get(name);
  shared.delete(name);
  await (await system)?.stop();
}

/** Makes an account with a key, and a client that uses it. */
export async function newAccount(
  database: Database,
  url: string,
  scopes: readonly Scope[] = ACCOUNT_SCOPES,
): Promise<ApiClient> {
  const account = await database.accounts.create('test', OPERATOR);
  const { key, api_key } = await database.apiKeys.create(account.id, 'test', scopes, OPERATOR);
  return apiClient(url, { accountId: account.id, key, keyId: api_key.id });
}
