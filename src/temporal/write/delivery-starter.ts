import { queuesByKey } from '../../domain/basics/bounded-queue.js';
import { idTime } from '../../domain/basics/id-time.js';
import { newId } from '../../domain/basics/ids.js';
import { withTimeout } from '../../domain/basics/with-timeout.js';
import type { Begun } from '../../domain/delivery/attempt-order.js';
import {
  type AcceptedEvent,
  type DeliveryTarget,
  MAX_STARTED_AT_ONCE,
  type NamedEvent,
  namedEvent,
} from '../../domain/delivery/delivery.js';
import type { KeptEvent, Starters } from '../../domain/delivery/stored-event.js';
import type { EndpointConditions } from '../../domain/endpoint/breaker/endpoint-conditions.js';
import type { EndpointKey } from '../../domain/endpoint/endpoint-key.js';
import type { ReleaseOptions, ReleaseResult } from '../../domain/endpoint/release.js';
import type { FeedPlaces } from '../../domain/feed/feed.js';
import type { NamedEndpoint } from '../../domain/ledger/summaries.js';
import type { RowSearch } from '../../domain/records/row-search.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import { TIMINGS } from '../../domain/timings.js';
import { readTaskAttempt } from '../read/history.js';
import {
  type EventHints,
  EventIntake,
  type IntakeOptions,
  type Offer,
  type StartPlan,
  type StartPlanner,
} from './accept/event-intake.js';
import { FeedOrder } from './accept/feed-order.js';
import { RetriedStarts } from './accept/retried-starts.js';
import { type StoredPart, StoredStarts } from './accept/stored-starts.js';
import { Unstarted } from './accept/unstarted.js';
import type { PendingDelivery } from './admission.js';
import { AdmissionLanes } from './admission-lanes.js';
import { EventGroups } from './event-groups.js';
import { startFanOut } from './fan-out.js';
import { probeOldest } from './parked-deliveries.js';
import { releaseBacklog, startRelease } from './release-backlog.js';
import { type StartCallOptions, StartCalls } from './start-calls.js';
import { StartSlots } from './start-slots.js';

/** Up to this many deliveries of an event are admitted together with those of other events. */
const MAX_ADMITTED = 10;
/** How long a start waits for more deliveries at most where first attempts do not wait for it, milliseconds. */
const LINGER_MS = 150;
/** How long a process that stops waits for its starts, milliseconds. */
const STOP_LIMIT_MS = 3_000;
/** An event whose id is older when it is offered is announced before it is stored, milliseconds. */
const TOLD_LATE_MS = 500;
/** Number of these groups that share a start slot: Temporal writes one while attempts of the other begin. */
const GROUPS_PER_SLOT = 2;

export interface DeliveryStarterOptions extends StartCallOptions, IntakeOptions {
  /** Finds deliveries that wait. */
  search: Pick<RowSearch, 'waiting' | 'some' | 'existing'>;
  /** This process's knowledge of endpoints. */
  conditions: EndpointConditions;
  /** Parked deliveries of an endpoint that are woken each second, at most. */
  releasePerSecond: number;
  /**
   * Start calls in flight at once in a lane; what arrives meanwhile is committed in groups. 0: no groups, every
   * delivery by itself.
   */
  startsInFlight: number;
  /** Where it says that this process is there. */
  starters: Pick<Starters, 'beat'>;
  feed: FeedPlaces;
  /** Called with what keeps deliveries from being started, which is tried again. */
  onTrouble?: ((error: unknown) => void) | undefined;
}

/** How deliveries are committed in groups. */
interface Grouping {
  slots: StartSlots;
  admission: AdmissionLanes;
  groups: EventGroups;
}

/**
 * Accepts events and starts their deliveries. The condition of endpoints decides only where first attempts are made;
 * events are accepted in the same way for all.
 */
export class DeliveryStarter implements StartPlanner {
  readonly id = newId('starter');
  /** It begins first attempts before it has started their executions. */
  get isEarly(): boolean {
    return this.options.earlyAttempts !== undefined;
  }

  private readonly options: DeliveryStarterOptions;
  private readonly calls: StartCalls;
  readonly intake: EventIntake;
  private readonly unstarted = new Unstarted();
  private readonly storedStarts: StoredStarts;
  readonly feedOrder: FeedOrder;
  private readonly retrying: RetriedStarts;
  private readonly underWay = new Set<Promise<unknown>>();
  /**
   * Fan-outs of an account, events without an endpoint among them. Each is an execution, so they are not started
   * together as deliveries are: one waits for the other.
   */
  private readonly fanOutsOf = queuesByKey(1, 10_000);
  /** Absent if there are no groups. */
  private readonly grouping: Grouping | undefined;
  /** For deliveries that are started by themselves where there are no groups, and again. */
  private readonly alone = new StartSlots(8);

  constructor(options: DeliveryStarterOptions) {
    this.options = options;
    this.calls = new StartCalls(options);
    const { starters, feed, timings = TIMINGS } = options;
    const { id, isEarly, unstarted } = this;
    const beat = (settled: number) => starters.beat({ id, isEarly, since: unstarted.since(), settled });
    this.feedOrder = new FeedOrder(feed, beat, timings.starter_dead_ms);
    this.intake = new EventIntake(this, options);
    this.retrying = new RetriedStarts(options.onTrouble);
    const pendingOf = ({ event, targets, begun }: StoredPart) => this.pending(event, targets, {}, begun);
    this.storedStarts = new StoredStarts(options.store, options.search, this.unstarted, {
      inFeed: (event) => this.feedOrder.stored(event),
      startAlone: (part) => this.startAlone(pendingOf(part)),
      startEvent: (part) => this.startEvent(part.event, part.targets, pendingOf(part)),
      startGroup: (parts, carrier) => this.startGroup(parts.flatMap(pendingOf), carrier),
    });
    if (options.startsInFlight === 0) return;
    const slots = new StartSlots(options.startsInFlight);
    const isolatedSlots = new StartSlots(options.startsInFlight);
    this.grouping = {
      slots,
      admission: new AdmissionLanes(
        slots,
        isolatedSlots,
        {
          startAlone: (deliveries) => this.retrying.untilStarted(() => this.calls.startAlone(deliveries)),
          startGroup: (deliveries, id) => this.startGroup(deliveries, id),
        },
        options.earlyAttempts ? LINGER_MS : 0,
      ),
      groups: new EventGroups((deliveries, id) => this.startOnce(deliveries, id)),
    };
  }

  /** See {@link EventIntake.accept}. */
  accept(offer: Offer): Promise<KeptEvent> {
    return this.intake.accept(offer);
  }

  async offered({ event_id }: AcceptedEvent): Promise<void> {
    this.unstarted.offer(event_id);
    // An event that is offered late is older than this process's last report to the feed.
    if (idTime(event_id) < sharedNow() - TOLD_LATE_MS) await this.feedOrder.beat();
  }

  withdrawn({ event_id }: AcceptedEvent): void {
    this.unstarted.remove(event_id);
  }

  checkRoom({ payload }: AcceptedEvent, deliveries: number): void {
    this.unstarted.checkRoom(deliveries, payload.length);
  }

  /** Not so many deliveries wait to be started that events are refused. */
  get hasRoom(): boolean {
    return this.unstarted.hasRoom;
  }

  get isBehind(): boolean {
    return this.unstarted.isBehind;
  }

  plan(event: AcceptedEvent, targets: readonly DeliveryTarget[], hints: EventHints): StartPlan {
    const { event_id, payload } = event;
    this.checkRoom(event, targets.length);
    this.unstarted.add(event_id, { deliveries: targets.length, bytes: payload.length });
    const pending = this.pending(event, targets, hints);
    const isAdmitted = this.grouping && targets.length > 0 && targets.length <= MAX_ADMITTED;
    const reserved = isAdmitted ? (this.grouping?.admission.reserve(pending) ?? []) : [];
    const carriers = reserved.flatMap(({ group }) => group ?? []);
    const carrierOf = new Map(
      reserved.flatMap(({ group, deliveries }) =>
        group === undefined
          ? []
          : deliveries.map(({ target }) => [target.endpoint_id, carriers.indexOf(group)] as const),
      ),
    );
    const drop = () => {
      for (const one of reserved) one.dropped();
    };
    return {
      carriers,
      targets: targets.map((target) => {
        const carrier = carrierOf.get(target.endpoint_id);
        return { ...target, ...(carrier !== undefined && { carrier }) };
      }),
      stored: async (placed) => {
        this.beginEarly(pending);
        const started = isAdmitted
          ? Promise.all(reserved.map((one) => one.stored()))
          : this.startUnadmitted(event, targets, pending);
        const done = Promise.all([started, placed]);
        this.underWay.add(done);
        await done;
        this.underWay.delete(done);
        this.unstarted.remove(event_id);
      },
      dropped: () => {
        drop();
        this.unstarted.remove(event_id);
      },
      unsure: () => {
        drop();
        this.unstarted.doubt(event_id);
      },
    };
  }

  /** Begins the first attempts in the direct lane, which wait for no start. */
  private beginEarly(pending: readonly PendingDelivery[]): void {
    const { earlyAttempts, settings } = this.options;
    if (!earlyAttempts || pending.length > MAX_ADMITTED) return;
    const direct = pending.filter(({ placement }) => !placement.isolated);
    const attempt = { index: 0, number: 1, trigger: 'schedule' } as const;
    const orders = direct.map(({ event, target: { endpoint_id, order_key } }) => ({
      ...{ event: namedEvent(event), endpoint_id, attempt, ...(order_key && { order_key }) },
    }));
    if (!earlyAttempts.begin(orders, settings.attempt_timeout_ms)) return;
    for (const one of direct) one.begun = { by: this.id };
  }

  /**
   * The deliveries of an event, each with the decision where its first attempt is made.
   *
   * @param begun who has begun their first attempts
   */
  private pending(
    event: NamedEvent,
    targets: readonly DeliveryTarget[],
    { failing, hostOf }: EventHints = {},
    begun?: Begun,
  ): PendingDelivery[] {
    return targets.map((target) => ({
      event,
      target,
      placement: this.options.conditions.place(target.endpoint_id, failing?.get(target.endpoint_id)),
      host: hostOf && (() => hostOf(target.endpoint_id)),
      begun,
    }));
  }

  private startGroup(deliveries: readonly PendingDelivery[], id: string): Promise<void> {
    return this.retrying.untilStarted(() => this.startOnce(deliveries, id));
  }

  /** Starts a group; what it is found not to have is started by itself. */
  private async startOnce(deliveries: readonly PendingDelivery[], id: string): Promise<void> {
    const missing = await this.calls.startGroup(deliveries, id);
    if (missing.length > 0) await this.calls.startAlone(missing);
  }

  private startAlone(deliveries: readonly PendingDelivery[]): Promise<void> {
    return this.retrying.untilStarted(() => this.alone.run(() => this.calls.startAlone(deliveries)));
  }

  private startEvent(
    event: NamedEvent,
    targets: readonly DeliveryTarget[],
    deliveries: readonly PendingDelivery[],
  ): Promise<void> {
    const isSmall = deliveries.length > 0 && deliveries.length <= MAX_ADMITTED;
    return isSmall ? this.startAlone(deliveries) : this.startUnadmitted(event, targets, deliveries);
  }

  /** Starts the deliveries of an event that are not admitted together with those of others. */
  private async startUnadmitted(
    event: NamedEvent,
    targets: readonly DeliveryTarget[],
    deliveries: readonly PendingDelivery[],
  ): Promise<void> {
    const { grouping, options } = this;
    // Its document says all of an event that goes nowhere.
    if (targets.length === 0) return;
    if (targets.length > (grouping ? MAX_STARTED_AT_ONCE : MAX_ADMITTED)) {
      const start = () => this.fanOutsOf(event.account_id)(() => startFanOut(options, event, targets.length));
      return this.retrying.untilStarted(start);
    }
    if (!grouping) return this.startAlone(deliveries);
    const { slots, groups } = grouping;
    const step = GROUPS_PER_SLOT * groups.size;
    // In between, other events get the slot.
    for (let first = 0; first < deliveries.length; first += step)
      await this.retrying.untilStarted(() =>
        slots.run(() => groups.start(deliveries.slice(first, first + step), first)),
      );
  }

  /** See {@link StoredStarts.start}. */
  startStored(...stored: Parameters<StoredStarts['start']>): Promise<void> {
    return this.storedStarts.start(...stored);
  }

  /** See {@link StoredStarts.settleDoubts}. */
  settleDoubts(): Promise<void> {
    return this.storedStarts.settleDoubts();
  }

  /**
   * Waits for what is to be started, as far as there is time, and gives up what is left: another process starts it.
   *
   * @returns whether nothing is left
   */
  async stop(): Promise<boolean> {
    await withTimeout(STOP_LIMIT_MS, Promise.all(this.underWay)).catch(() => {});
    this.retrying.stop();
    return this.underWay.size === 0 && this.unstarted.doubted().length === 0;
  }

  /** Which try of its workflow task an execution is in; 1 for the first, and if it is in none. */
  async taskAttempt(workflowId: string, runId: string): Promise<number> {
    return readTaskAttempt(this.options.client, { workflowId, runId });
  }

  /**
   * Starts some of an event's deliveries, unless that has been done already: in groups, or, if there are none, each by
   * itself.
   *
   * @param first where the first of them is among the event's targets @param end where they end
   */
  async startSome(eventId: string, first: number, end: number): Promise<void> {
    const stored = await this.options.store.find(eventId);
    // It is past its time: nothing is left to be delivered.
    if (!stored) return;
    const { event, targets } = stored;
    const deliveries = this.pending(event, targets.slice(first, end));
    if (this.grouping) await this.grouping.groups.start(deliveries, first);
    else await this.calls.startAlone(deliveries);
  }

  /** See {@link StartCalls.allKept}. */
  allKept(): Promise<void> {
    return this.calls.allKept();
  }

  /** See {@link StartCalls.sendAgain}. */
  sendAgain(...again: Parameters<StartCalls['sendAgain']>): Promise<string> {
    return this.calls.sendAgain(...again);
  }

  /** See {@link startRelease}. */
  release(endpoint: NamedEndpoint, retries = true): Promise<void> {
    return startRelease(this.options, endpoint, retries);
  }

  /**
   * Releases what waits for an endpoint, until nothing waits any more. That can take long, so a workflow should wait
   * for it.
   */
  releaseBacklog(endpoint: EndpointKey, options: ReleaseOptions): Promise<ReleaseResult> {
    return releaseBacklog(this.options, endpoint, options, this.options.timings);
  }

  /** See {@link probeOldest}. */
  probe(endpoint: EndpointKey): Promise<void> {
    return probeOldest(this.options, endpoint);
  }
}
