import type Koa from 'koa';
import type { Logger } from 'pino';
import type { AddressPolicy } from '../../../packages/egress/src/addresses/index.js';
import type { NoteVerifier } from '../../../packages/tlog/src/index.js';
import type { Settings } from '../../config/schema.js';
import type { Account } from '../../domain/access/account.js';
import type { Owner } from '../../domain/access/owner.js';
import type { SecretBox } from '../../domain/access/secret-box.js';
import type { SignInCodes } from '../../domain/access/sign-in-codes.js';
import type { ErasurePlan } from '../../domain/privacy/erasure.js';
import type { PayloadSealer } from '../../domain/privacy/payload-sealer.js';
import type { NumberSource } from '../../domain/sequence/number-source.js';
import type { NumberRange } from '../../domain/sequence/ranges.js';
import type { TraceHeaders } from '../../domain/trace/trace-context.js';
import type { Tracing } from '../../domain/trace/tracing.js';
import type { Database } from '../../models/database.js';
import type { Registrations } from '../../models/endpoint/registrations.js';
import type { FeedReader } from '../../models/feed/feed-reader.js';
import type { BacklogReader } from '../../temporal/read/backlog/backlog-reader.js';
import type { DeliveryReader } from '../../temporal/read/delivery-reader.js';
import type { EventReader } from '../../temporal/read/event-reader.js';
import type { ReplaySources } from '../../temporal/read/replay/replay-page.js';
import type { ReplayReader } from '../../temporal/read/replay/replay-reader.js';
import type { ScheduledExecutions } from '../../temporal/write/accept/scheduled-executions.js';
import type { AccountDeletions } from '../../temporal/write/account-deletions.js';
import type { DeliveryControl } from '../../temporal/write/delivery-control.js';
import type { DeliveryStarter } from '../../temporal/write/delivery-starter.js';
import type { EndpointWorkflows } from '../../temporal/write/endpoint-workflows.js';
import type { Incidents } from '../../temporal/write/incidents.js';
import type { Replays } from '../../temporal/write/replay/replays.js';
import type { OpenIdProvider } from '../openid/provider.js';
import type { PayloadChecks } from '../payloads/payload-checks.js';
import type { Caller } from './caller/caller.js';
import type { Metrics } from './metrics.js';

/** Values that middlewares set for those behind them. */
export interface State {
  request_id: string;
  /** The operation that answers, once it is known. */
  operation?: string;
  /** Its path below the version, with parameters as `:name`. */
  route?: string;
  /** Where what the request starts continues, if requests are traced. */
  trace?: TraceHeaders;
  /** Id of an event without an idempotency key whose deliveries are being started. */
  event_id?: string;
  /** It waits because it was asked to, and for nothing that may hang. */
  isWaiting?: boolean;
  /** Takes back what the request was counted as by a limit: an outage is not held against who asks meanwhile. */
  uncount?: () => void;
  /** Counts further events of the request. @throws Problem 429 */
  countEvents?: (more: number) => void;
  caller: Caller;
  /** The account that the caller acts for. */
  account: Account | undefined;
}

/** Koa's context here; `params` are there behind the router. */
export type Context = Koa.ParameterizedContext<
  State,
  Koa.DefaultContext & { params?: Record<string, string> }
>;
export type Middleware = Koa.Middleware<State>;

/** Account and platform that a request's work is done for. */
export function ownerOf({ state: { caller, account } }: Pick<Context, 'state'>): Owner {
  const { account_id } = caller;
  return { account: account_id, platform: account?.platform_id ?? account_id };
}

/** Conveniences of a system on one's own machine, absent elsewhere. */
export interface Development {
  /** Signs in the person who started it. */
  signIns: SignInCodes;
}

/** Dependencies of the routes. */
export interface ApiDependencies {
  settings: Settings;
  /** Where deliveries may go. */
  addressPolicy: AddressPolicy;
  database: Database;
  /** Seals tickets of listeners. */
  box: SecretBox;
  /** Numbers the events that this process accepts. */
  numbers: NumberSource;
  /** Looks, once in this process, whether MongoDB was restored: then numbers of events are lost. */
  restores: { hasLooked(): Promise<void> };
  /** Tells people of numbers that two events of an account have. */
  numbersTwice(accountId: string, twice: readonly NumberRange[]): Promise<void>;
  /** Checks payloads and schemas. */
  payloads: PayloadChecks;
  sealer: PayloadSealer;
  starter: DeliveryStarter;
  endpointWorkflows: EndpointWorkflows;
  accountDeletions: AccountDeletions;
  control: DeliveryControl;
  deliveries: DeliveryReader;
  backlog: BacklogReader;
  incidents: Incidents;
  events: EventReader;
  feed: FeedReader;
  scheduledExecutions: ScheduledExecutions;
  replays: Replays;
  /** Starts the erasure of a subject; resolves once Temporal has persisted it. */
  startErasure: (plan: ErasurePlan) => Promise<void>;
  replayReader: ReplayReader;
  replaySources: ReplaySources;
  registrations: Registrations;
  /** Signs people in to the desk; absent if no provider is set. */
  openId?: OpenIdProvider | undefined;
  /** Present under `hookline dev` alone. */
  development?: Development | undefined;
  /** Public keys of the log. */
  logKeys: {
    signing: () => Promise<readonly NoteVerifier[]>;
    /** Also of keys that signed before. */
    known: () => Promise<readonly NoteVerifier[]>;
  };
  /** The API's address as its callers see it, which is the OAuth issuer. */
  publicUrl: string;
  metrics: Metrics;
  /** Absent if nothing is traced. */
  tracing?: Pick<Tracing, 'request'> | undefined;
  /** Response of `/metrics`. */
  metricsPage: { contentType: string; text(): Promise<string> };
  logger: Logger;
  /** Conditions of readiness: name and check; a check that rejects says why. */
  readiness: Record<string, () => Promise<void>>;
  /** Aborted once the process is to stop: it still takes requests, and is not ready for more. */
  stopping: AbortSignal;
  /** Warnings about faults that stop nothing: sentences. */
  warnings(): string[];
  /** Errors that mean that a server behind is out of reach for the moment. */
  isUnavailable: (error: unknown) => boolean;
}
