import mongoose, { type Connection } from 'mongoose';
import { AccountRepository } from './accounts.js';
import { ApiKeyRepository } from './api-keys.js';
import { EndpointRepository } from './endpoints.js';
import { IdempotencyRepository } from './idempotency.js';
import { InstallationSecretRepository } from './installation-secrets.js';
import { LoginRepository } from './logins.js';
import { OAuthClientRepository } from './oauth-clients.js';
import { OAuthRecordRepository } from './oauth-records.js';
import { ProfileRepository } from './profiles.js';
import { type CounterFactory, mongoCounters } from './rate-counters.js';

/** How long a look-up waits for a server before it fails, milliseconds. */
const SERVER_SELECTION_TIMEOUT_MS = 5_000;

/** MongoDB, and what is kept in it. */
export interface Database {
  accounts: AccountRepository;
  apiKeys: ApiKeyRepository;
  endpoints: EndpointRepository;
  idempotency: IdempotencyRepository;
  installationSecrets: InstallationSecretRepository;
  logins: LoginRepository;
  oauthClients: OAuthClientRepository;
  oauthRecords: OAuthRecordRepository;
  profiles: ProfileRepository;
  /** Counters that all processes share. */
  rateCounters: CounterFactory;
  /** Resolves where the server answers. */
  ping(): Promise<void>;
  /** Makes the indexes. Servers that lack a kind of index are told of in the result; the service works without, more slowly. */
  createIndexes(): Promise<{ skipped: string[] }>;
  close(): Promise<void>;
}

/** Connects to MongoDB. @throws where no server answers within 5 seconds */
export async function connectDatabase(uri: string): Promise<Database> {
  const connection = mongoose.createConnection(uri, {
    autoIndex: false,
    autoCreate: false,
    serverSelectionTimeoutMS: SERVER_SELECTION_TIMEOUT_MS,
  });
  await connection.asPromise();
  const profiles = new ProfileRepository(connection);
  return {
    accounts: new AccountRepository(connection, profiles),
    apiKeys: new ApiKeyRepository(connection),
    endpoints: new EndpointRepository(connection),
    idempotency: new IdempotencyRepository(connection),
    installationSecrets: new InstallationSecretRepository(connection),
    logins: new LoginRepository(connection),
    oauthClients: new OAuthClientRepository(connection),
    oauthRecords: new OAuthRecordRepository(connection),
    profiles,
    rateCounters: mongoCounters(connection),
    async ping() {
      await connection.db?.command({ ping: 1 });
    },
    createIndexes: () => createIndexes(connection),
    close: () => connection.close(),
  };
}

async function createIndexes(connection: Connection): Promise<{ skipped: string[] }> {
  const skipped: string[] = [];
  for (const model of Object.values(connection.models)) {
    try {
      await model.createIndexes();
    } catch (error) {
      skipped.push(`${model.collection.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { skipped };
}
