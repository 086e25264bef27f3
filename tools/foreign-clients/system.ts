import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { startMongo, startTemporal } from '../../packages/embedded-servers/src/index.js';
import { migrate } from '../../src/bin/migrate.js';
import { startService } from '../../src/bin/service.js';
import { loadSettings } from '../../src/config/load.js';
import { OPERATOR_SCOPES } from '../../src/domain/access/api-key.js';
import { newSecretKey } from '../../src/domain/access/secret-box.js';
import { OPERATOR } from '../../src/domain/change/change.js';
import { connectDatabase, type Database } from '../../src/models/database.js';
import { BUNDLE_PATH, buildWorkflowBundle } from '../../src/temporal/server/bundle.js';
import { installRuntime } from '../../src/temporal/server/connection.js';

/**
 * A whole system for clients that were not written for Hookline: empty servers, a service without rate limits, one
 * account.
 */
export interface ForeignSystem {
  url: string;
  /** An access token with every scope. */
  token: string;
  /** For files of the run; removed at the end. */
  folder: string;
  stop(): Promise<void>;
}

/** Starts such a system. @param report takes a line for each server that is starting */
export async function startForeignSystem(report: (line: string) => void): Promise<ForeignSystem> {
  const folder = await mkdtemp(join(tmpdir(), 'hookline-clients-'));
  const namespace = 'clients';
  installRuntime(pino({ level: 'silent' }), undefined);
  const [temporal, mongo] = await Promise.all([
    startTemporal({ dataDir: folder, namespace, port: 0, uiPort: undefined, report, persistent: false }),
    startMongo({ dataDir: folder, port: 0, report, persistent: false }),
    buildWorkflowBundle(BUNDLE_PATH),
  ]);
  const unlimited = '1000000/1m';
  const settings = loadSettings({
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: namespace,
    MONGODB_URI: mongo.uri,
    HOOKLINE_PORT: '0',
    HOOKLINE_LOG_LEVEL: 'error',
    HOOKLINE_SECRET_KEYS: newSecretKey(),
    HOOKLINE_ENDPOINT_VERIFICATION: 'off',
    HOOKLINE_RATE_LIMIT_STORE: 'memory',
    HOOKLINE_RATE_LIMIT_TOKEN: unlimited,
    HOOKLINE_RATE_LIMIT_ACCOUNT: unlimited,
    HOOKLINE_RATE_LIMIT_ADDRESS: unlimited,
  });
  await migrate(settings, () => {});
  const service = await startService(settings, 'all', pino({ level: 'error' }, pino.destination(2)));
  const database = await connectDatabase(mongo.uri);
  // A platform that has an account cannot be deleted.
  const owner = await database.accounts.create('owner of the client', OPERATOR);
  const { id } = await database.accounts.create('clients', OPERATOR, { platform_id: owner.id });
  const token = await issueToken(database, owner.id, id);
  return {
    url: service.url ?? '',
    token,
    folder,
    async stop() {
      await database.close();
      await service.stop();
      await Promise.all([temporal.stop(), mongo.stop()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * An access token of a client of another account: an API key, or a client of the account's own, would sooner or later
 * be revoked by a fuzzer.
 */
async function issueToken(database: Database, ownerId: string, accountId: string): Promise<string> {
  const registration = {
    name: 'foreign clients',
    grant_types: ['client_credentials' as const],
    redirect_uris: [],
    scopes: [...OPERATOR_SCOPES],
    token_endpoint_auth_method: 'client_secret_basic' as const,
  };
  const { client } = await database.oauthClients.create(ownerId, registration, OPERATOR);
  const token = randomBytes(32).toString('base64url');
  const lifetime = 3_600;
  await database.oauthRecords.save(
    'ClientCredentials',
    token,
    {
      clientId: client.id,
      extra: { account_id: accountId },
      scope: OPERATOR_SCOPES.join(' '),
      exp: Math.floor(Date.now() / 1_000) + lifetime,
    },
    lifetime,
  );
  return token;
}
