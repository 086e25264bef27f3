import mongoose, { type Connection } from 'mongoose';
import type { SecretBox } from '../domain/access/secret-box.js';
import { DEFAULT_CHANGES_DAYS } from '../domain/change/change.js';
import { createPayloadSealer } from '../domain/privacy/payload-sealer.js';
import { DEFAULT_PAYLOAD_DAYS, DEFAULT_RECORD_DAYS, parseKeptDays } from '../domain/records/kept-days.js';
import { TIMINGS, type Timings } from '../domain/timings.js';
import { AccessTokenRepository } from './access/access-tokens.js';
import { AccountLocks } from './access/account-locks.js';
import { AccountRepository } from './access/accounts.js';
import { ApiKeyRepository } from './access/api-keys.js';
import { DeskSessionRepository } from './access/desk-sessions.js';
import { HolderRepository } from './access/holders.js';
import { InstallationSecretRepository } from './access/installation-secrets.js';
import { LoginRepository } from './access/logins.js';
import { OAuthClientRepository } from './access/oauth-clients.js';
import { OAuthRecordRepository } from './access/oauth-records.js';
import { PortalSessionRepository } from './access/portal-sessions.js';
import { ProfileRepository } from './access/profiles.js';
import { RateWindowRepository } from './access/rate-windows.js';
import { ChangeRepository } from './change/changes.js';
import { AttemptLeaseRepository } from './endpoint/attempt-leases.js';
import { DeliveryTurnRepository } from './endpoint/delivery-turns.js';
import { EndpointRepository } from './endpoint/endpoints.js';
import { EveryEndpoint } from './endpoint/every-endpoint.js';
import { InboxRepository } from './endpoint/inboxes.js';
import { IncidentRepository } from './endpoint/incidents.js';
import { ListenerRepository } from './endpoint/listeners.js';
import { UsedTicketRepository } from './endpoint/used-tickets.js';
import { EventKindRepository } from './event/event-kinds.js';
import { EventRepository } from './event/events.js';
import { KeySecretRepository } from './event/key-secrets.js';
import { PayloadReader } from './event/payloads.js';
import { ScheduledEvents } from './event/scheduled-events.js';
import { StarterRepository } from './event/starters.js';
import { FeedRepository } from './feed/feed.js';
import { FeedConsumerRepository } from './feed/feed-consumers.js';
import { LogRepository } from './log/log.js';
import { LogKeyRepository } from './log/log-keys.js';
import { SegmentRepository } from './log/segments.js';
import { wakeWritersOfClosedSockets } from './mongo/closed-sockets.js';
import { DURABLE, requireDurable } from './mongo/durability.js';
import { followClock } from './mongo/follow-clock.js';
import { createIndexes, hasIndexes } from './mongo/indexes.js';
import { OrderPlaceRepository } from './order/order-places.js';
import { DataKeyHome } from './privacy/data-key-home.js';
import { DataKeyRepository } from './privacy/data-keys.js';
import { ErasureRepository } from './privacy/erasures.js';
import { PrivateInputs } from './privacy/private-inputs.js';
import { EndRepository } from './records/ends.js';
import { RecordRepository, type Retention } from './records/records.js';
import { ReplayRepository } from './replay/replays.js';
import { SequenceRepository } from './sequence/sequences.js';
import { MinuteRepository } from './stats/minutes.js';
import { TallyRepository } from './stats/tallies.js';
import { UsageRepository } from './stats/usage.js';

const OPTIONS = {
  ...DURABLE,
  autoIndex: false,
  autoCreate: false,
  /** How long an operation waits for a server that can be reached before it fails. */
  serverSelectionTimeoutMS: 5_000,
  /** How long a server may take to accept a connection. */
  connectTimeoutMS: 5_000,
  /** How long a server may stay silent on a connection that is in use. Making an index may take longer. */
  socketTimeoutMS: 7_000,
  /** How often each server is asked whether it is there: a frozen one is noticed after this and the time to connect. */
  heartbeatFrequencyMS: 1_000,
  /**
   * How often an operation is tried again if the server accepts no connection, so that nothing was sent: after waits of
   * up to 0.1, 0.2, 0.4 … s, at random, 6 s in all on average. With fewer, such as the driver's default, 2, an
   * operation may give up before the heartbeat has found out that the server is gone, from when on operations wait for
   * it.
   */
  maxAdaptiveRetries: 7,
} as const;

/** The servers in a connection string, without name and password. */
const HOSTS = /^mongodb(?:\+srv)?:\/\/(?:[^/]*@)?([^/?]+)/;

/** MongoDB, and what is kept in it. */
export type Database = Awaited<ReturnType<typeof connectDatabase>>;

/** How MongoDB is used. */
interface DatabaseOptions {
  /** Encrypts stored secrets; without it endpoints cannot be written, and their secrets cannot be read. */
  box?: SecretBox;
  /** Wraps the data keys of payloads; absent: `box` does. */
  keyBox?: SecretBox;
  /** The database of the data keys, if they live apart. */
  keysUri?: string | undefined;
  /** How long an operation may take; `unlimited` for what makes indexes. */
  operationTime?: 'limited' | 'unlimited';
  /** How long the changes that this process makes are kept, days. */
  changesDays?: number;
  /** How long rows that this process writes are kept. */
  records?: Retention;
  /** Whether stored payloads are encrypted. */
  encryptsPayloads?: boolean;
  timings?: Timings;
}

const DEFAULT_RETENTION: Retention = {
  records: parseKeptDays(DEFAULT_RECORD_DAYS),
  payloads: parseKeptDays(DEFAULT_PAYLOAD_DAYS),
};

/**
 * Connects to MongoDB.
 *
 * @throws Error that names the server if it does not answer within 5 seconds, or what in the URI must not be there
 */
export async function connectDatabase(
  uri: string,
  {
    box,
    keyBox = box,
    keysUri,
    operationTime = 'limited',
    changesDays = DEFAULT_CHANGES_DAYS,
    records = DEFAULT_RETENTION,
    encryptsPayloads = false,
    timings = TIMINGS,
  }: DatabaseOptions = {},
) {
  const connection = await connect('MONGODB_URI', uri, operationTime);
  await followClock(connection);
  const apart =
    keysUri === undefined
      ? undefined
      : await connect('HOOKLINE_KEYS_MONGODB_URI', keysUri, operationTime).catch(async (error: unknown) => {
          await connection.close();
          throw error;
        });
  const connections = apart ? [connection, apart] : [connection];
  const log = new LogRepository(connection);
  const changes = new ChangeRepository(connection, changesDays, box, timings);
  const profiles = new ProfileRepository(connection, changes, timings);
  const logins = new LoginRepository(connection, changes);
  const oauthClients = new OAuthClientRepository(connection, changes);
  const oauthRecords = new OAuthRecordRepository(connection);
  const dataKeys = new DataKeyRepository(apart ?? connection, keyBox, box, timings);
  const segments = new SegmentRepository(connection, box);
  const accountLocks = new AccountLocks(connection);
  const sealer = createPayloadSealer(dataKeys, encryptsPayloads);
  const payloads = new PayloadReader(
    connection,
    { sealer, keys: dataKeys, kept: records.payloads },
    box,
    timings,
  );
  return {
    accessTokens: new AccessTokenRepository(oauthRecords, { oauthClients, logins }, timings),
    accountLocks,
    accounts: new AccountRepository(connection, profiles, changes, timings),
    apiKeys: new ApiKeyRepository(connection, changes, timings),
    records: new RecordRepository(
      connection,
      records,
      { sealer, payloads, keys: dataKeys, segments, log },
      box,
    ),
    changes,
    dataKeys,
    /** Where they are. */
    dataKeyHome: new DataKeyHome(connection, apart),
    deskSessions: new DeskSessionRepository(connection, changes, timings),
    ends: new EndRepository(connection, box),
    erasures: new ErasureRepository(connection, changes),
    endpoints: new EndpointRepository(connection, box, changes, timings),
    everyEndpoint: new EveryEndpoint(connection),
    attemptLeases: new AttemptLeaseRepository(connection),
    deliveryTurns: new DeliveryTurnRepository(connection),
    incidents: new IncidentRepository(connection),
    events: new EventRepository(connection, records, box),
    /** Payloads of stored events, for attempts. */
    payloads,
    feed: new FeedRepository(connection, records.records),
    feedConsumers: new FeedConsumerRepository(connection, accountLocks),
    eventKinds: new EventKindRepository(connection, changes, timings),
    /** Accounts of resources: for the operator alone. */
    holders: new HolderRepository(connection),
    installationSecrets: new InstallationSecretRepository(connection),
    keySecrets: new KeySecretRepository(connection, box),
    inboxes: new InboxRepository(connection),
    listeners: new ListenerRepository(connection),
    log,
    logKeys: new LogKeyRepository(connection, box),
    logins,
    oauthClients,
    oauthRecords,
    orderPlaces: new OrderPlaceRepository(connection),
    portalSessions: new PortalSessionRepository(connection, changes, timings),
    privateInputs: new PrivateInputs(connection, changesDays, box),
    profiles,
    rateWindows: new RateWindowRepository(connection),
    starters: new StarterRepository(connection),
    replays: new ReplayRepository(connection, accountLocks, changesDays, box),
    scheduled: new ScheduledEvents(connection, box),
    segments,
    sequences: new SequenceRepository(connection, box),
    minutes: new MinuteRepository(connection),
    tallies: new TallyRepository(connection),
    usage: new UsageRepository(connection, segments),
    usedTickets: new UsedTicketRepository(connection),
    /** Resolves if the server answers, and that of the data keys if they have one. */
    async ping(): Promise<void> {
      await Promise.all(connections.map(({ db }) => db?.command({ ping: 1 })));
    },
    /** Makes the indexes. @throws Error if not all could be made */
    async createIndexes(): Promise<void> {
      await Promise.all(connections.map(createIndexes));
    },
    /** Whether `createIndexes` has made those of this version. */
    async hasIndexes(): Promise<boolean> {
      return (await Promise.all(connections.map(hasIndexes))).every(Boolean);
    },
    async close(): Promise<void> {
      await Promise.all(connections.map((one) => one.close()));
    },
  };
}

/** @param setting that names the server, for the error */
async function connect(
  setting: string,
  uri: string,
  operationTime: DatabaseOptions['operationTime'],
): Promise<Connection> {
  requireDurable(setting, uri);
  wakeWritersOfClosedSockets();
  const connection = mongoose.createConnection(uri, {
    ...OPTIONS,
    ...(operationTime === 'unlimited' && { socketTimeoutMS: 0 }),
  });
  await connection.asPromise().catch((error: Error) => {
    const [, hosts = setting] = HOSTS.exec(uri) ?? [];
    throw new Error(
      `MongoDB cannot be reached at ${hosts}. Check ${setting}, and whether the server runs. (${error.message})`,
      { cause: error },
    );
  });
  return connection;
}
