import type { releaseParked } from '../../../workflows/index.js';
import { type ReleaseScope, releaseAgain } from '../../../workflows/messages.js';
import { queuesByKey } from '../../domain/basics/bounded-queue.js';
import { deliveryId } from '../../domain/basics/delivery-id.js';
import {
  type AcceptedEvent,
  type DeliveryTarget,
  MAX_GROUP_SIZE,
  pickEvent,
} from '../../domain/delivery/delivery.js';
import type { EndpointConditions } from '../../domain/endpoint/endpoint-conditions.js';
import type { EndpointKey } from '../../domain/endpoint/endpoint-key.js';
import type { FailingMark } from '../../domain/endpoint/incident.js';
import type { ReleaseOptions, ReleaseResult } from '../../domain/endpoint/release.js';
import { type GroupRange, GroupSeries } from '../../domain/ledger/group-series.js';
import { openEvent, sealEvent } from '../../domain/ledger/sealed-event.js';
import { endpointAttributes } from '../../domain/ledger/search-attributes.js';
import { endpointSummary, type NamedEndpoint } from '../../domain/ledger/summaries.js';
import { releaseWorkflowId } from '../../domain/ledger/workflow-ids.js';
import type { PayloadSealer } from '../../domain/privacy/payload-sealer.js';
import { TIMINGS, timingsOfInput } from '../../domain/timings.js';
import { RecentGroups } from '../read/group/recent-groups.js';
import { readInput, readTaskAttempt } from '../read/history.js';
import type { PendingDelivery } from './admission.js';
import { AdmissionLanes } from './admission-lanes.js';
import { EventGroups } from './event-groups.js';
import { startFanOut } from './fan-out.js';
import { CandidateGroups } from './once/candidate-groups.js';
import { NumberedGroups } from './once/numbered-groups.js';
import { findOldest, probe } from './parked-deliveries.js';
import { releaseBacklog } from './release-backlog.js';
import { type StartCallOptions, StartCalls } from './start-calls.js';
import { StartSlots } from './start-slots.js';

/** Up to this many deliveries of an event are admitted together with those of other events. */
const MAX_ADMITTED = 10;
/** Up to this many are started as groups before the event is answered; more are started by a workflow. */
export const MAX_STARTED_AT_ONCE = 5 * MAX_GROUP_SIZE;
/** So many of these groups share a start slot: Temporal writes one while attempts of the other begin. */
const GROUPS_PER_SLOT = 2;

/** What the caller knows of an event, and of the endpoints that it goes to. */
export interface EventHints {
  /** Which of the endpoints are failing, by id. */
  failing?: ReadonlyMap<string, FailingMark>;
  /** The host of one of them. */
  hostOf?(endpointId: string): string | undefined;
  /** Token of the person that the event is about. */
  subject?: string | undefined;
  /**
   * Of {@link DeliveryStarter.nextGroups}, if the same event may be asked for again: it is put into no other one. If it
   * is, those in which the first call could start its deliveries.
   */
  groups?: GroupRange | undefined;
}

export interface DeliveryStarterOptions extends Omit<StartCallOptions, 'recentGroups'> {
  sealer: PayloadSealer;
  /** What this process knows of endpoints. */
  conditions: EndpointConditions;
  /** Parked deliveries of an endpoint that are woken each second, at most. */
  releasePerSecond: number;
  /**
   * Start calls in flight at once in a lane; what arrives meanwhile is committed in groups. 0: no groups, every
   * delivery by itself.
   */
  startsInFlight: number;
}

/**
 * Writes to the ledger. Every promise resolves after Temporal has persisted what was asked for. The condition of
 * endpoints decides only where first attempts are made; events are accepted in the same way for all.
 */
export class DeliveryStarter {
  /** Groups that visibility may not know yet. */
  readonly recentGroups = new RecentGroups();
  private readonly options: DeliveryStarterOptions;
  private readonly calls: StartCalls;
  /**
   * Fan-outs of an account, events without an endpoint among them. Each is an execution, so they are not started
   * together as deliveries are: one waits for the other.
   */
  private readonly fanOutsOf = queuesByKey(1, 10_000);
  /** Absent if there are no groups. */
  private readonly grouping:
    | { slots: StartSlots; admission: AdmissionLanes; groups: EventGroups; series: GroupSeries }
    | undefined;
  /** For deliveries of repeated requests. */
  private readonly repeats = new StartSlots(4);
  private readonly candidates: CandidateGroups;
  /** What this process is starting and somebody may ask to be started again, by event. */
  private readonly underWay = new Map<string, Promise<void>>();

  constructor(options: DeliveryStarterOptions) {
    this.options = options;
    const { recentGroups } = this;
    this.calls = new StartCalls({ ...options, recentGroups });
    this.candidates = new CandidateGroups(options);
    if (options.startsInFlight === 0) return;
    const series = new GroupSeries(MAX_GROUP_SIZE);
    const numbered = new NumberedGroups(series, this.calls);
    const slots = new StartSlots(options.startsInFlight);
    const isolatedSlots = new StartSlots(options.startsInFlight);
    this.grouping = {
      slots,
      admission: new AdmissionLanes(slots, isolatedSlots, numbered),
      groups: new EventGroups(this.calls),
      series,
    };
  }

  /**
   * The groups in which deliveries of an event can be started that is accepted now. What is written down of them before
   * the event is accepted says to {@link acceptAgain} where to look. `undefined` if there are no groups.
   */
  nextGroups(): GroupRange | undefined {
    const { grouping } = this;
    return grouping?.series.ahead(grouping.admission.waiting);
  }

  /**
   * Starts the deliveries of an event.
   *
   * @throws LedgerBusyError if too many deliveries wait to be started; then none was started
   */
  async accept(
    event: AcceptedEvent,
    targets: readonly DeliveryTarget[],
    more: EventHints = {},
  ): Promise<void> {
    const started = this.start(event, targets, more);
    if (!more.groups) return started;
    this.underWay.set(event.event_id, started);
    try {
      await started;
    } finally {
      this.underWay.delete(event.event_id);
    }
  }

  /**
   * Starts those deliveries of an event that nobody has started, after a first call of {@link accept}, in whichever
   * process, of which nobody knows how it ended. That process may be dead, or slow and go on later: either way each
   * delivery is started once.
   *
   * Deliveries that are not in a group are started by themselves: under their own ids, which are the same for
   * everybody.
   */
  async acceptAgain(
    accepted: AcceptedEvent,
    targets: readonly DeliveryTarget[],
    { groups, ...more }: EventHints = {},
  ): Promise<void> {
    const own = this.underWay.get(accepted.event_id);
    if (own !== undefined) return own;
    // The ids of others say what they start.
    if (targets.length === 0 || targets.length > MAX_ADMITTED) return this.accept(accepted, targets, more);
    const started = groups ? await this.candidates.settle(groups) : new Map<string, string>();
    const event = await sealEvent(this.options.sealer, accepted, more.subject);
    const { event_id } = event;
    const missing: PendingDelivery[] = [];
    for (const delivery of this.pending(event, targets, more)) {
      const { endpoint_id } = delivery.target;
      const group = started.get(deliveryId({ event_id, endpoint_id }));
      if (group === undefined) missing.push(delivery);
      else this.recentGroups.add(group, [{ event_id, endpoint_id }]);
    }
    if (missing.length > 0) await this.repeats.run(() => this.calls.startAlone(missing));
  }

  /** The deliveries of an event, each with the decision where its first attempt is made. */
  private pending(
    event: AcceptedEvent,
    targets: readonly DeliveryTarget[],
    { failing, hostOf, groups }: EventHints = {},
  ): PendingDelivery[] {
    return targets.map((target, index) => ({
      event,
      target,
      head: index === 0,
      placement: this.options.conditions.place(target.endpoint_id, failing?.get(target.endpoint_id)),
      host: hostOf && (() => hostOf(target.endpoint_id)),
      groups,
    }));
  }

  private async start(
    accepted: AcceptedEvent,
    targets: readonly DeliveryTarget[],
    more: EventHints,
  ): Promise<void> {
    const { grouping, options, calls } = this;
    const event = await sealEvent(options.sealer, accepted, more.subject);
    const atOnce = grouping ? MAX_STARTED_AT_ONCE : MAX_ADMITTED;
    if (targets.length === 0 || targets.length > atOnce) {
      await this.fanOutsOf(event.account_id)(() => startFanOut(options, event, targets));
      return;
    }
    const deliveries = this.pending(event, targets, more);
    if (!grouping) {
      await calls.startAlone(deliveries);
    } else if (targets.length <= MAX_ADMITTED) {
      await grouping.admission.submit(deliveries);
    } else {
      const { slots, groups } = grouping;
      const step = GROUPS_PER_SLOT * groups.size;
      // In between, other events get the slot.
      for (let first = 0; first < deliveries.length; first += step)
        await slots.run(() => groups.start(deliveries.slice(first, first + step), first));
    }
  }

  /** What a run was started with. */
  async readInput<Input>(workflowId: string, runId: string): Promise<Input> {
    return (await readInput(this.options.client, { workflowId, runId })) as Input;
  }

  /** Which try of its workflow task an execution is in; 1 for the first, and if it is in none. */
  async taskAttempt(workflowId: string, runId: string): Promise<number> {
    return readTaskAttempt(this.options.client, { workflowId, runId });
  }

  /**
   * Starts some of an event's deliveries, unless that has been done already: in groups, or, if there are none, each by
   * itself.
   *
   * @param offset where the first of them is among the event's targets
   */
  async startSome(batch: AcceptedEvent, targets: readonly DeliveryTarget[], offset: number): Promise<void> {
    const event = pickEvent(batch);
    const deliveries = this.pending(event, targets).map((one) => ({ ...one, head: false }));
    if (this.grouping) await this.grouping.groups.start(deliveries, offset);
    else await this.calls.startAlone(deliveries);
  }

  /** Whether the payload of an event can be read: it has not been erased. */
  async canSend(event: AcceptedEvent): Promise<boolean> {
    return (await openEvent(this.options.sealer, event)) !== undefined;
  }

  /** See {@link StartCalls.sendAgain}. */
  sendAgain(...again: Parameters<StartCalls['sendAgain']>): Promise<string> {
    return this.calls.sendAgain(...again);
  }

  /**
   * Starts the release of what waits for an endpoint, because it takes deliveries again or is gone. A release that is
   * under way runs once more when it has ended, because deliveries may have been parked behind it.
   *
   * @param retries whether deliveries that wait for a retry go along with those that are parked
   */
  async release({ account_id, endpoint_id, host }: NamedEndpoint, retries = true): Promise<void> {
    const { client, taskQueue, releasePerSecond: per_second, timings = TIMINGS } = this.options;
    await client.workflow.signalWithStart<typeof releaseParked, [ReleaseScope]>('releaseParked', {
      workflowId: releaseWorkflowId(account_id, endpoint_id),
      taskQueue,
      args: [{ account_id, endpoint_id, per_second, retries, ...timingsOfInput(timings) }],
      signal: releaseAgain,
      signalArgs: [{ retries }],
      staticSummary: endpointSummary('release', { account_id, endpoint_id, host }),
      typedSearchAttributes: endpointAttributes(account_id, endpoint_id),
    });
  }

  /**
   * Releases what waits for an endpoint, until nothing waits any more. That can take long, so a workflow should wait
   * for it.
   */
  releaseBacklog(endpoint: EndpointKey, options: ReleaseOptions): Promise<ReleaseResult> {
    return releaseBacklog(this.options.client, endpoint, options, this.options.timings);
  }

  /**
   * Attempts the oldest parked delivery of an endpoint, or one of the oldest; if none is parked, one that waits for a
   * retry.
   *
   * @param since when the endpoint began to fail
   */
  async probe(endpoint: EndpointKey, since: Date): Promise<void> {
    const { client } = this.options;
    const oldest =
      (await findOldest(client, endpoint, 'parked', since)) ??
      (await findOldest(client, endpoint, 'retrying', since));
    if (oldest) await probe(client, oldest, endpoint.endpoint_id);
  }
}
