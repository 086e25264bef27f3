import mongoose, { type Connection } from 'mongoose';
import type { SecretBox } from '../domain/access/secret-box.js';
import { AccessTokenRepository } from './access/access-tokens.js';
import { AccountRepository } from './access/accounts.js';
import { ApiKeyRepository } from './access/api-keys.js';
import { InstallationSecretRepository } from './access/installation-secrets.js';
import { LoginRepository } from './access/logins.js';
import { OAuthClientRepository } from './access/oauth-clients.js';
import { OAuthRecordRepository } from './access/oauth-records.js';
import { ProfileRepository } from './access/profiles.js';
import { RateTallyRepository } from './access/rate-tallies.js';
import { DeliveryTurnRepository } from './endpoint/delivery-turns.js';
import { EndpointRepository } from './endpoint/endpoints.js';
import { EventKindRepository } from './event/event-kinds.js';
import { IdempotencyRepository } from './event/idempotency.js';

/** How long a look-up waits for a server before it fails, milliseconds. */
const SERVER_SELECTION_TIMEOUT_MS = 5_000;

/** MongoDB, and what is kept in it. */
export interface Database {
  accessTokens: AccessTokenRepository;
  accounts: AccountRepository;
  apiKeys: ApiKeyRepository;
  endpoints: EndpointRepository;
  deliveryTurns: DeliveryTurnRepository;
  eventKinds: EventKindRepository;
  idempotency: IdempotencyRepository;
  installationSecrets: InstallationSecretRepository;
  logins: LoginRepository;
  oauthClients: OAuthClientRepository;
  oauthRecords: OAuthRecordRepository;
  profiles: ProfileRepository;
  rateTallies: RateTallyRepository;
  /** Resolves where the server answers. */
  ping(): Promise<void>;
  /** Makes the indexes. Servers that lack a kind of index are told of in the result; the service works without, more slowly. */
  createIndexes(): Promise<{ skipped: string[] }>;
  close(): Promise<void>;
}

/**
 * Connects to MongoDB.
 *
 * @param box seals what is stored of secrets; without it endpoints can be neither read nor written
 * @throws where no server answers within 5 seconds
 */
export async function connectDatabase(uri: string, box?: SecretBox): Promise<Database> {
  const connection = mongoose.createConnection(uri, {
    autoIndex: false,
    autoCreate: false,
    serverSelectionTimeoutMS: SERVER_SELECTION_TIMEOUT_MS,
  });
  await connection.asPromise();
  const profiles = new ProfileRepository(connection);
  const logins = new LoginRepository(connection);
  const oauthClients = new OAuthClientRepository(connection);
  const oauthRecords = new OAuthRecordRepository(connection);
  return {
    accessTokens: new AccessTokenRepository(oauthRecords, { oauthClients, logins }),
    accounts: new AccountRepository(connection, profiles),
    apiKeys: new ApiKeyRepository(connection),
    endpoints: new EndpointRepository(connection, box),
    deliveryTurns: new DeliveryTurnRepository(connection),
    eventKinds: new EventKindRepository(connection),
    idempotency: new IdempotencyRepository(connection),
    installationSecrets: new InstallationSecretRepository(connection),
    logins,
    oauthClients,
    oauthRecords,
    profiles,
    rateTallies: new RateTallyRepository(connection),
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
