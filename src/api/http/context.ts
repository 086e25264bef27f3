import type Koa from 'koa';
import type { Logger } from 'pino';
import type { Settings } from '../../config/schema.js';
import type { Scope } from '../../domain/access/api-key.js';
import type { AddressPolicy } from '../../domain/endpoint/address-policy.js';
import type { Database } from '../../models/database.js';
import type { Registrations } from '../../models/endpoint/registrations.js';
import type { BacklogReader } from '../../temporal/read/backlog/backlog-reader.js';
import type { DeliveryReader } from '../../temporal/read/delivery-reader.js';
import type { EventReader } from '../../temporal/read/event-reader.js';
import type { ReplayFinder } from '../../temporal/read/replay/replay-finder.js';
import type { ReplayReader } from '../../temporal/read/replay/replay-reader.js';
import type { DeliveryControl } from '../../temporal/write/delivery-control.js';
import type { DeliveryStarter } from '../../temporal/write/delivery-starter.js';
import type { EndpointWorkflows } from '../../temporal/write/endpoint-workflows.js';
import type { Incidents } from '../../temporal/write/incidents.js';
import type { Replays } from '../../temporal/write/replay/replays.js';
import type { PayloadChecks } from '../payloads/payload-checks.js';
import type { Metrics } from './metrics.js';

/** Who sent a request, once it has been authenticated. */
export interface Caller {
  account_id: string;
  /** The id of the API key, or of the OAuth client that holds the token. */
  id: string;
  /** The profile behind the token: what `GET /me` answers. */
  profile_id: string;
  scopes: readonly Scope[];
  /** When an API key stops working, ISO 8601; absent if it does not, and for OAuth tokens, whose client or person stays. */
  expires_at?: string;
}

/** What middlewares leave for those behind them. */
export interface State {
  request_id: string;
  /** The operation that answers, once it is known. */
  operation?: string;
  caller: Caller;
}

/** Koa's context here; `params` are there behind the router. */
export type Context = Koa.ParameterizedContext<
  State,
  Koa.DefaultContext & { params?: Record<string, string> }
>;
export type Middleware = Koa.Middleware<State>;

/** What the routes stand on. */
export interface ApiDependencies {
  settings: Settings;
  /** Where deliveries may go. */
  addressPolicy: AddressPolicy;
  database: Database;
  /** Checks payloads and schemas. */
  payloads: PayloadChecks;
  starter: DeliveryStarter;
  endpointWorkflows: EndpointWorkflows;
  control: DeliveryControl;
  deliveries: DeliveryReader;
  backlog: BacklogReader;
  incidents: Incidents;
  events: EventReader;
  replays: Replays;
  replayReader: ReplayReader;
  replayFinder: ReplayFinder;
  registrations: Registrations;
  /** The API's address as its callers see it, which is the OAuth issuer. */
  publicUrl: string;
  metrics: Metrics;
  /** What `/metrics` answers. */
  metricsPage: { contentType: string; text(): Promise<string> };
  logger: Logger;
  /** What must hold for the service to be ready: name and check; a check that rejects says why. */
  readiness: Record<string, () => Promise<void>>;
  /** Errors that mean that a server behind is out of reach for the moment. */
  isUnavailable: (error: unknown) => boolean;
}
