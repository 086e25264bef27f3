import type { AccountRemoval } from '../src/domain/access/account-deletion.js';
import type { Alert, AlertChannel } from '../src/domain/alert/alert.js';
import type { AlertMessage } from '../src/domain/alert/alert-text.js';
import type { AttemptReport } from '../src/domain/attempt/attempt-report.js';
import type { FirstOrder } from '../src/domain/delivery/attempt-order.js';
import type { AttemptRequest } from '../src/domain/delivery/attempt-request.js';
import type { AcceptedEvent, DeliveryTarget, NamedEvent } from '../src/domain/delivery/delivery.js';
import type { UnannouncedEnds } from '../src/domain/delivery/end-notice.js';
import type { EventPayloads } from '../src/domain/delivery/event-payloads.js';
import type { SigningKey } from '../src/domain/delivery/signature.js';
import type { DisableResult, Endpoint, VerificationSubject } from '../src/domain/endpoint/endpoint.js';
import type { EndpointConditions } from '../src/domain/endpoint/endpoint-conditions.js';
import type { EndpointKey } from '../src/domain/endpoint/endpoint-key.js';
import type { FailingMark, IncidentOutcome } from '../src/domain/endpoint/incident.js';
import type { ReleaseOptions, ReleaseResult } from '../src/domain/endpoint/release.js';
import type { OrderRule } from '../src/domain/event/ordering.js';
import type { NamedEndpoint } from '../src/domain/ledger/summaries.js';
import type { DeliveryOrder } from '../src/domain/order/delivery-order.js';
import type { ErasurePlan } from '../src/domain/privacy/erasure.js';
import type { AttemptOrders } from '../src/domain/records/row/attempt-orders.js';
import type { DeliveryRows, TerminatedExecutions } from '../src/domain/records/told.js';
import type { DeliveryOptions, DeliverySecrets } from '../src/domain/sending/delivery-options.js';
import type { Timings } from '../src/domain/timings.js';
import type { Tracing } from '../src/domain/trace/tracing.js';
import type { HttpPoster, InboxExchange, ListenerExchange } from './http/exchange.js';
import type { ReplayLedger } from './replay/replay-ledger.js';
import type { ScheduledSender } from './scheduled-sender.js';

export type {
  HttpAnswer,
  HttpExchange,
  HttpPoster,
  HttpRequest,
  HttpTrace,
  InboxExchange,
  ListenerExchange,
} from './http/exchange.js';

/** Attempts of an execution to make in the direct lane, inside a workflow task. */
export interface DirectAttempts extends AttemptOrders, Asked {}

/** Attempts at released deliveries. */
export interface ReleasedAttempts extends DirectAttempts {
  /** How long ago the oldest of their releases was sent, milliseconds. */
  waited_ms?: number;
}

/** Request of a workflow to a local activity, with its time. */
export interface Asked {
  /** The workflow's time, milliseconds since the epoch. */
  asked_at: number;
}

/** Secrets that sign and accompany a request to an endpoint. They stay inside the activity. */
export interface RequestSecrets {
  /** Sent with the request. */
  headers: Readonly<Record<string, string>>;
  /** Newest first. */
  signing_keys: readonly SigningKey[];
  /** Secrets that the delivery options mask. */
  options: DeliverySecrets;
}

/** Fields of an endpoint that an attempt needs. */
export interface EndpointForAttempt
  extends Pick<
      Endpoint,
      | 'version'
      | 'target_url'
      | 'listener'
      | 'inbox'
      | 'status'
      | 'status_reason'
      | 'rate_limit'
      | 'legacy_header_prefix'
      | keyof DeliveryOptions
    >,
    OrderRule {
  /** The version since which it has had its URL. */
  verification_revision: number;
  /** It has been failing. */
  failing?: FailingMark;
  /** Decrypts what the request needs: called once the attempt is certain to be made. */
  secrets(): RequestSecrets;
}

/** Assigns turns under rate limits, for all processes together. */
export interface DeliveryTurns {
  /** @returns the time of the turn, milliseconds since the epoch: now or later */
  take(endpointId: string, rate: number): Promise<number>;
}

/** The right to make one of the attempts that an endpoint allows at once, in all processes together. */
export interface AttemptLease {
  release(): Promise<void>;
}

/** Gives such rights. */
export interface AttemptLeases {
  /**
   * @param most how many the endpoint allows at once
   * @param ms the lease ends by itself after this: its process is dead, or stands still
   * @returns `undefined` if all are given
   */
  take(endpointId: string, most: number, ms: number): Promise<AttemptLease | undefined>;
}

/**
 * The attempt that an endpoint is disabled because of: `attemptName`, and the address that answered it, if that is
 * known.
 */
export interface DisablingAttempt {
  name: string;
  address?: string | undefined;
}

/** Incidents of endpoints, as they are kept. Both may be repeated. */
export interface IncidentStore {
  /** Records that an incident began. @param since ISO 8601, UTC: the first failure */
  began(endpoint: EndpointKey, since: string): Promise<void>;
  /** Records how the open incident of an endpoint ended. */
  ended(endpoint: EndpointKey, outcome: IncidentOutcome): Promise<void>;
}

/** The stored endpoints. */
export interface EndpointDirectory {
  /** The endpoint as it was a second ago at most; `undefined` if it was deleted. */
  load(accountId: string, endpointId: string): Promise<EndpointForAttempt | undefined>;
  /** The same as it is now, for what is not looked at again. */
  loadFresh(accountId: string, endpointId: string): Promise<EndpointForAttempt | undefined>;
  /** Records that an endpoint is failing, or, with `null`, that it is not. */
  setFailing(accountId: string, endpointId: string, failing: FailingMark | null): Promise<void>;
  /**
   * Takes an active endpoint out of service.
   *
   * @param cause what does so
   * @param verificationRevision of the endpoint that the cause is about; absent if it is about the endpoint whatever
   * its URL is
   * @param attempt that it is done because of
   */
  disable(
    accountId: string,
    endpointId: string,
    reason: string,
    cause: string,
    verificationRevision: number | undefined,
    attempt?: DisablingAttempt,
  ): Promise<DisableResult>;
  /** The endpoints that an operational event goes to. `payload`: parsed. */
  watchers(accountId: string, kind: string, payload: unknown): Promise<DeliveryTarget[]>;
  /** Whether any endpoint of the account is registered for an operational kind. */
  isWatched(accountId: string, kind: string): Promise<boolean>;
  /** Removes signing secrets whose overlap has ended. @returns when the next one ends, milliseconds since the epoch */
  retireSecrets(accountId: string, endpointId: string): Promise<number | undefined>;
}

/** Reports the results of attempts to the incidents of their endpoints. */
export interface IncidentLog {
  /** @param began when the attempt began, milliseconds since the epoch @param attempt `attemptName` */
  failed(endpoint: NamedEndpoint, said: string, began: number, attempt: string): Promise<void>;
  /**
   * @param began likewise
   * @param isMarked whether the endpoint was marked as failing then
   * @param isFirst whether it was its delivery's first attempt
   * @returns whether there is an incident
   */
  succeeded(endpoint: NamedEndpoint, began: number, isMarked: boolean, isFirst: boolean): Promise<boolean>;
  /**
   * @param attempt names the attempt that was answered 410, and disables the endpoint
   * @param verificationRevision of the endpoint as it was attempted
   */
  gone(endpoint: NamedEndpoint, attempt: string, verificationRevision: number): Promise<void>;
}

/** Fields of an endpoint that verification needs. */
export interface EndpointForVerification
  extends VerificationSubject,
    RequestSecrets,
    Pick<
      Endpoint,
      | 'id'
      | 'account_id'
      | 'target_url'
      | 'verification_method'
      | 'rate_limit'
      | 'legacy_header_prefix'
      | keyof DeliveryOptions
    > {
  /** Token that the subscriber must return. */
  verification_token: string;
  /** Sent to the subscriber as `hub.verify_token`, which tells it who asks; Graph API only. */
  verify_token?: string;
}

/** The endpoints that have not been verified yet. */
export interface PendingEndpoints {
  /** The endpoint, with a token; `undefined` if it was deleted or is not pending any more. */
  loadPending(endpoint: EndpointKey): Promise<EndpointForVerification | undefined>;
  /**
   * Takes it into service, unless it has changed since it was verified.
   *
   * @param subject what was verified
   * @returns whether it was taken into service
   */
  verified(
    endpoint: EndpointKey,
    subject: VerificationSubject,
    allowedRate: number | undefined,
  ): Promise<boolean>;
  /** Releases the deliveries that were parked while it was being verified, if it is active now. */
  release(endpoint: EndpointKey): Promise<void>;
  /** Records why it is still pending, unless it has changed since that version was asked. */
  explain(endpoint: EndpointKey, reason: string, verificationRevision: number): Promise<void>;
  /** Disables it, unless it has changed since that version was asked. */
  giveUp(endpoint: EndpointKey, reason: string, verificationRevision: number | undefined): Promise<void>;
}

/** Measures attempts. */
export interface AttemptObserver {
  /** An attempt has been made, or was not to be made now. */
  attempted(request: AttemptRequest, report: AttemptReport): void;
}

/** Dependencies of an attempt. */
export interface AttemptDependencies {
  payloads: Pick<EventPayloads, 'of'>;
  endpoints: EndpointDirectory;
  turns: DeliveryTurns;
  leases: AttemptLeases;
  /** This process's knowledge of endpoints. */
  conditions: Pick<EndpointConditions, 'heldBack' | 'isIsolated' | 'take'>;
  order: Pick<DeliveryOrder, 'look'>;
  poster: HttpPoster;
  listenerExchange: ListenerExchange;
  inboxExchange: InboxExchange;
  incidents: IncidentLog;
  observer?: AttemptObserver | undefined;
  /** Absent if nothing is traced. */
  tracing?: Pick<Tracing, 'attempt'> | undefined;
  /** Sent as `User-Agent`. */
  userAgent: string;
  /** The address of the API as subscribers see it; absent if they cannot reach it. */
  publicUrl?: string | undefined;
}

/** Activities start and release deliveries by this. */
export interface LedgerWriter {
  /** The id of this process, by which it names attempts that it has begun. */
  readonly id: string;
  /** Which try of its workflow task an execution is in; 1 for the first, and if it is in none. */
  taskAttempt(workflowId: string, runId: string): Promise<number>;
  /**
   * Starts some of an event's deliveries, unless that has been done already.
   *
   * @param first where the first of them is among the event's targets @param end where they end
   */
  startSome(eventId: string, first: number, end: number): Promise<void>;
  /**
   * Releases what waits for an endpoint, oldest first. It lasts until nothing is left, or deliveries to the endpoint
   * wait again.
   */
  releaseBacklog(endpoint: EndpointKey, options: ReleaseOptions): Promise<ReleaseResult>;
  /** Attempts one of the oldest deliveries that wait for an endpoint, if there is one. */
  probe(endpoint: EndpointKey): Promise<void>;
  /** Accepts an event, once, however often it is called: it is stored, and its deliveries are started after that. */
  accept(offer: { event: AcceptedEvent; targets: readonly DeliveryTarget[] }): Promise<unknown>;
  /**
   * Starts the release of what waits for an endpoint.
   *
   * @param retries whether deliveries that wait for a retry go along with those that are parked
   */
  release(endpoint: EndpointKey, retries: boolean): Promise<void>;
}

/** The first attempts in the direct lane, which may begin before their workflows ask for them. */
export interface FirstAttempts {
  /** `null` for an attempt that could not be made. */
  attempt(orders: readonly FirstOrder[], timeoutMs: number): Promise<(AttemptReport | null)[]>;
  /** All of these have been begun by this process, and nobody has asked for them. */
  has(orders: readonly FirstOrder[]): boolean;
}

/** The log that proves what was recorded. */
export interface LogWrites {
  /**
   * Appends changes that are not in the log, as far as it is known how they ended, some at once.
   *
   * @returns how many; 0: that was all
   */
  appendChanges(): Promise<number>;
  /**
   * Looks at all of the log, if it is time to: when the process begins to sign, and once a day.
   *
   * @param until when to stop, milliseconds since the epoch @returns whether nothing is left to be looked at
   * @throws LogAlteredError
   */
  audit(until: number): Promise<boolean>;
  /**
   * Signs a checkpoint of all that was appended.
   *
   * @param last the signed note that Temporal knows as the last one @returns how many records the log has, and the
   * signed note
   * @throws LogAlteredError if the log does not continue what was signed before
   * @throws LogCopyError
   */
  publish(last: string | undefined): Promise<{ size: number; checkpoint: string }>;
}

/** Alerts people to what happens to endpoints. */
export interface AlertRaiser {
  /** Whether people are alerted to events of a kind. */
  concerns(kind: string): boolean;
  /** Raises an alert. Repeated, it is sent once. */
  raise(alert: Alert): Promise<void>;
}

/** Steps of an erasure. Everything may be repeated. */
export interface SubjectErasures {
  /** Records the erasure, and what it covers. */
  begin(plan: ErasurePlan): Promise<void>;
  /** Open deliveries of the subject that were accepted before the erasure was asked for. */
  countOpen(plan: ErasurePlan): Promise<number>;
  eraseKey(plan: ErasurePlan): Promise<void>;
  cancelOpen(plan: ErasurePlan, onProgress: () => void): Promise<{ open: number; cancelled: number }>;
  /** @param cancelled deliveries that were cancelled */
  complete(plan: ErasurePlan, cancelled: number): Promise<void>;
}

/** Dependencies of the activities. */
export interface ActivityDependencies {
  /** Makes one attempt. @throws if it could not be made */
  attempt(request: AttemptRequest): Promise<AttemptReport>;
  earlyAttempts: FirstAttempts;
  endpoints: EndpointDirectory;
  incidentStore: IncidentStore;
  pending: PendingEndpoints;
  poster: HttpPoster;
  timings: Timings;
  /** Absent if nobody is alerted. */
  raiser?: AlertRaiser | undefined;
  /** Channels to people that are configured. */
  alerts: AlertSenders;
  ledger: LedgerWriter;
  replays: ReplayLedger;
  accounts: AccountRemoval;
  /** Removes the payloads that are past their time. @returns how many */
  removePayloads(): Promise<number>;
  rows: DeliveryRows;
  /** A report as it may stand in a history: its attempt is sealed, but for what rules need. */
  sealAttempt(event: NamedEvent | undefined, report: AttemptReport): Promise<AttemptReport>;
  /** Executions that were terminated in Temporal. */
  terminated: TerminatedExecutions;
  ends: UnannouncedEnds;
  log: LogWrites;
  erasures: SubjectErasures;
  sendScheduled: ScheduledSender;
  /** Sent as `User-Agent`. */
  userAgent: string;
  /** The address of the API as subscribers see it; absent if they cannot reach it. */
  publicUrl?: string | undefined;
}

/**
 * Sends a message to people. @param id the same whenever the same message is sent again
 * @throws Error without anything secret in it, if the message was not taken
 */
export type AlertSender = (message: AlertMessage, id: string) => Promise<void>;

/** The channels that are configured. */
export type AlertSenders = Partial<Record<AlertChannel, AlertSender>>;
