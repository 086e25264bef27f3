import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandleWithStartDetails,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { deliverEvent, deliverTogether, fanOutEvent, releaseParked } from '../../../workflows/index.js';
import type { DeliverEventInput, FanOutEventInput } from '../../../workflows/inputs.js';
import { newId } from '../../domain/basics/ids.js';
import type {
  AcceptedEvent,
  DeliveryGroup,
  DeliverySettings,
  DeliveryTarget,
  EndpointKey,
} from '../../domain/delivery/delivery.js';
import type { LiveGroup } from '../../domain/delivery/delivery-group.js';
import { type HeldBack, holdBack } from '../../domain/delivery/hold-back.js';
import type { EndpointHealth } from '../../domain/endpoint/endpoint-health.js';
import type { FailingMark } from '../../domain/endpoint/incident.js';
import {
  ACCOUNT_ATTRIBUTE,
  deliveryAttributes,
  ENDPOINT_ATTRIBUTE,
  EVENT_ATTRIBUTE,
  EVENT_HEAD_ATTRIBUTE,
  endpointAttributes,
  GROUP_STATUS,
  KIND_ATTRIBUTE,
  STATUS_ATTRIBUTE,
} from '../../domain/ledger/search-attributes.js';
import {
  deliveryWorkflowId,
  fanOutWorkflowId,
  groupWorkflowId,
  releaseWorkflowId,
} from '../../domain/ledger/workflow-ids.js';
import { LedgerBusyError } from '../errors.js';
import { RESEND_MEMO, type ResendMemo } from '../read/earlier-runs.js';
import type { FanOutMemo } from '../read/fan-out-progress.js';
import { type GroupMemo, indexMembers } from '../read/group-memo.js';
import { RecentGroups } from '../read/groups.js';
import { readInput } from '../read/history.js';
import { Admission, type PendingDelivery } from './admission.js';
import { type WakeOptions, wakeParkedDeliveries } from './parked-deliveries.js';

/** Up to this many deliveries are started before an event is answered; more are started by a workflow. */
export const MAX_DIRECT_DELIVERIES = 10;

/** Start calls in flight at once in the isolated lane: no more, as they compete with those of healthy endpoints for the processor. */
const ISOLATED_STARTS_IN_FLIGHT = 1;

const NONE_FAILING: ReadonlyMap<string, FailingMark> = new Map();

/** A fan-out's targets stand in its input with the payload, and Temporal takes inputs of 2 MiB: about 20,000 of them, in bytes. */
const MAX_FAN_OUT_BYTES = 1024 * 1024;

/** Begins first attempts when their start is persisted, ahead of the workflows, which are then given the same reports. */
export interface HeadStart {
  begin(runId: string, event: AcceptedEvent, endpointId: string, timeoutMs: number): void;
  beginGroup(runId: string, group: DeliveryGroup, timeoutMs: number): void;
}

export interface DeliveryStarterOptions {
  client: Client;
  task_queue: string;
  settings: DeliverySettings;
  /** Present where this process runs a worker on the client's connection, which takes the first workflow task back with the start. */
  head_start: HeadStart | undefined;
  /** What this process knows of endpoints. */
  health: EndpointHealth;
  /** With so many first attempts in flight in this process, no more events are accepted. */
  max_first_attempts: number;
  /** Parked deliveries of an endpoint that are woken each second, at most. */
  release_per_second: number;
  /** Start calls in flight at once; what arrives meanwhile is committed in groups. 0: no groups, every delivery by itself. */
  starts_in_flight: number;
}

/** Writes to the ledger: every promise resolves after Temporal has persisted what was asked for. */
export class DeliveryStarter {
  /** Groups that visibility may not know yet. */
  readonly recentGroups = new RecentGroups();
  private readonly options: DeliveryStarterOptions;
  private readonly admission: { direct: Admission; isolated: Admission } | undefined;

  constructor(options: DeliveryStarterOptions) {
    this.options = options;
    if (options.starts_in_flight === 0) return;
    const admission = (startsInFlight: number) =>
      new Admission({
        startsInFlight,
        startAlone: (deliveries) => this.startAlone(deliveries),
        startGroup: (deliveries) => this.startGroup(deliveries),
      });
    this.admission = {
      direct: admission(options.starts_in_flight),
      isolated: admission(ISOLATED_STARTS_IN_FLIGHT),
    };
  }

  /**
   * Starts the deliveries of an event. Done again, it starts those that are missing; a delivery may then be made twice.
   *
   * @param failing what is known of the endpoints' failing, by id
   * @throws LedgerBusyError where this process has too many first attempts in flight
   */
  async accept(
    event: AcceptedEvent,
    targets: readonly DeliveryTarget[],
    failing = NONE_FAILING,
  ): Promise<void> {
    if (this.options.health.directAttempts >= this.options.max_first_attempts) {
      throw new LedgerBusyError('Too many first attempts are in flight.');
    }
    if (targets.length === 0 || targets.length > MAX_DIRECT_DELIVERIES)
      await this.startFanOut(event, targets);
    else await this.start(event, targets, failing);
  }

  private async start(
    event: AcceptedEvent,
    targets: readonly DeliveryTarget[],
    failing: ReadonlyMap<string, FailingMark>,
  ): Promise<void> {
    const deliveries = targets.map((target, index) => ({
      event,
      target,
      head: index === 0,
      failing: failing.get(target.endpoint_id),
    }));
    if (!this.admission) return this.startAlone(deliveries);
    const { direct, isolated } = this.admission;
    // Asked once of each: the answer changes with time, and a delivery must be in one lane.
    const unhealthy = new Set(deliveries.filter((delivery) => this.isUnhealthy(delivery)));
    const healthy = deliveries.filter((delivery) => !unhealthy.has(delivery));
    // Of both before either: a refusal says that nothing was accepted.
    isolated.requireRoom(unhealthy.size);
    direct.requireRoom(healthy.length);
    await Promise.all([isolated.submit([...unhealthy]), direct.submit(healthy)]);
  }

  private isUnhealthy({ failing, target }: PendingDelivery): boolean {
    return failing !== undefined || this.options.health.isUnhealthy(target.endpoint_id);
  }

  /** Has the parked deliveries of an endpoint look at it anew, because it takes deliveries again or is gone. */
  async release({ account_id, endpoint_id }: EndpointKey): Promise<void> {
    await this.options.client.workflow.start<typeof releaseParked>('releaseParked', {
      workflowId: releaseWorkflowId(account_id, endpoint_id),
      taskQueue: this.options.task_queue,
      args: [{ account_id, endpoint_id, per_second: this.options.release_per_second }],
      // A run that is under way may have passed deliveries that were parked since: begin anew.
      workflowIdConflictPolicy: 'TERMINATE_EXISTING',
      typedSearchAttributes: endpointAttributes(account_id, endpoint_id),
    });
  }

  /** Wakes the parked deliveries of an endpoint, oldest first. It lasts as long as there are any; a workflow should wait for it. */
  async wakeParked(endpoint: EndpointKey, options: WakeOptions, onProgress: () => void): Promise<void> {
    await wakeParkedDeliveries(this.options.client, endpoint, options, onProgress);
  }

  /**
   * Starts a new run of a closed delivery.
   *
   * @param previous the run that is sent again, and who has it sent
   * @returns the new run's id
   * @throws WorkflowExecutionAlreadyStartedError where the delivery is open
   */
  async resend(
    event: AcceptedEvent,
    target: DeliveryTarget,
    { by, ...of }: ResendMemo & { by: string },
  ): Promise<string> {
    const resent = { action: 'resend', at: new Date().toISOString(), by } as const;
    const { firstExecutionRunId } = await this.startDeliverEvent(
      event,
      target,
      { isolated: true, resent },
      {
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowIdConflictPolicy: 'FAIL',
        memo: { [RESEND_MEMO]: of },
        typedSearchAttributes: deliveryAttributes(event, target.endpoint_id),
      },
    );
    return firstExecutionRunId;
  }

  private async startAlone(deliveries: readonly PendingDelivery[]): Promise<void> {
    await Promise.all(deliveries.map((delivery) => unlessStarted(this.startDelivery(delivery))));
  }

  private async startDelivery(delivery: PendingDelivery): Promise<void> {
    const { event, target, head, failing } = delivery;
    const held = holdBack(failing, Date.now(), Math.random());
    const isolated = this.isUnhealthy(delivery);
    const { eagerlyStarted, firstExecutionRunId } = await this.startDeliverEvent(
      event,
      target,
      { ...(isolated && { isolated }), ...(held && { first_report: held }) },
      {
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        workflowIdConflictPolicy: 'USE_EXISTING',
        typedSearchAttributes: deliveryAttributes(event, target.endpoint_id, { isHead: head }),
      },
    );
    if (!eagerlyStarted || isolated) return;
    const { head_start, settings } = this.options;
    head_start?.begin(firstExecutionRunId, event, target.endpoint_id, settings.attempt_timeout_ms);
  }

  private get takesFirstTasks(): boolean {
    return this.options.head_start !== undefined;
  }

  private startDeliverEvent(
    event: AcceptedEvent,
    { endpoint_id, schedule = this.options.settings.schedule }: DeliveryTarget,
    more: Partial<DeliverEventInput>,
    options: Pick<
      WorkflowStartOptions,
      'workflowIdReusePolicy' | 'workflowIdConflictPolicy' | 'memo' | 'typedSearchAttributes'
    >,
  ): Promise<WorkflowHandleWithStartDetails> {
    const { client, task_queue, settings } = this.options;
    return client.workflow.start<typeof deliverEvent>('deliverEvent', {
      ...options,
      workflowId: deliveryWorkflowId(event.account_id, { event_id: event.event_id, endpoint_id }),
      taskQueue: task_queue,
      args: [{ ...event, endpoint_id, ...settings, schedule, ...more }],
      requestEagerStart: this.takesFirstTasks,
    });
  }

  /** What a fan-out was started with. */
  async readFanOut(workflowId: string, runId: string): Promise<FanOutEventInput> {
    return (await readInput(this.options.client, { workflowId, runId })) as FanOutEventInput;
  }

  /** The group that a run makes, as it was started. */
  async readGroup(workflowId: string, runId: string): Promise<LiveGroup> {
    return (await readInput(this.options.client, { workflowId, runId })) as LiveGroup;
  }

  /**
   * Starts a part of an event's deliveries, unless that has been done already: as a group whose id says which part it is, or, where there
   * are no groups, each by itself.
   *
   * @param place where the part begins among the event's targets
   */
  async startPart(
    { account_id, event_id, event_kind, payload, accepted_at }: AcceptedEvent,
    targets: readonly DeliveryTarget[],
    place: number,
  ): Promise<void> {
    const event = { account_id, event_id, event_kind, payload, accepted_at };
    const deliveries = targets.map((target) => ({ event, target, head: false }));
    if (this.admission) await unlessStarted(this.startGroup(deliveries, `${event_id}:${place}`));
    else await this.startAlone(deliveries);
  }

  private async startGroup(pending: readonly PendingDelivery[], id = newId('group')): Promise<void> {
    const { client, task_queue, settings, head_start } = this.options;
    const group = toGroup(pending);
    const held = heldBack(pending);
    const isolated = pending.every((delivery) => this.isUnhealthy(delivery));
    const workflowId = groupWorkflowId(id);
    const keys = pending.map(({ event: { account_id, event_id }, target: { endpoint_id } }) => ({
      account_id,
      event_id,
      endpoint_id,
    }));
    const { accounts, events, endpoints, members } = indexMembers(keys);
    const heads = pending.flatMap(({ head }, index) => (head ? [index] : []));
    const handle = await client.workflow.start<typeof deliverTogether>('deliverTogether', {
      workflowId,
      taskQueue: task_queue,
      args: [{ ...group, ...settings, ...(held && { held }), ...(isolated && { isolated }) }],
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      requestEagerStart: this.takesFirstTasks,
      memo: { members, heads } satisfies GroupMemo,
      typedSearchAttributes: new TypedSearchAttributes([
        { key: ACCOUNT_ATTRIBUTE, value: accounts },
        { key: ENDPOINT_ATTRIBUTE, value: endpoints },
        { key: EVENT_ATTRIBUTE, value: events },
        { key: KIND_ATTRIBUTE, value: group.events[0]?.event_kind ?? '' },
        { key: STATUS_ATTRIBUTE, value: GROUP_STATUS },
        ...(heads.length > 0 ? [{ key: EVENT_HEAD_ATTRIBUTE, value: true }] : []),
      ]),
    });
    if (handle.eagerlyStarted && !isolated)
      head_start?.beginGroup(handle.firstExecutionRunId, group, settings.attempt_timeout_ms);
    this.recentGroups.add(
      workflowId,
      keys.map((key) => deliveryWorkflowId(key.account_id, key)),
    );
  }

  private async startFanOut(event: AcceptedEvent, targets: readonly DeliveryTarget[]): Promise<void> {
    const { client, task_queue, settings } = this.options;
    const { account_id, event_id, event_kind } = event;
    const parts = splitBySize(targets, MAX_FAN_OUT_BYTES);
    for (const [part, some] of parts.entries()) {
      await unlessStarted(
        client.workflow.start<typeof fanOutEvent>('fanOutEvent', {
          workflowId: fanOutWorkflowId(account_id, event_id, part),
          taskQueue: task_queue,
          args: [{ ...event, targets: some, ...settings }],
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          workflowIdConflictPolicy: 'USE_EXISTING',
          requestEagerStart: this.takesFirstTasks,
          memo: {
            fan_out: { started: 0, total: some.length },
            executions: parts.length,
          } satisfies FanOutMemo,
          typedSearchAttributes: new TypedSearchAttributes([
            { key: ACCOUNT_ATTRIBUTE, value: [account_id] },
            { key: EVENT_ATTRIBUTE, value: [event_id] },
            { key: KIND_ATTRIBUTE, value: event_kind },
            ...(part === 0 ? [{ key: EVENT_HEAD_ATTRIBUTE, value: true }] : []),
          ]),
        }),
      );
    }
  }
}

/** Targets in parts whose text is no longer than a limit each; one empty part where there are none. */
function splitBySize(targets: readonly DeliveryTarget[], limit: number): DeliveryTarget[][] {
  const parts: DeliveryTarget[][] = [[]];
  let size = 0;
  for (const target of targets) {
    const added = JSON.stringify(target).length;
    if (size + added > limit) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)?.push(target);
    size += added;
  }
  return parts;
}

/** Deliveries as a group's input: each event once, however many of them are of it. */
function toGroup(pending: readonly PendingDelivery[]): DeliveryGroup {
  const places = new Map<string, number>();
  const events: AcceptedEvent[] = [];
  const deliveries = pending.map(({ event, target }) => {
    const place = places.get(event.event_id) ?? events.push(event) - 1;
    places.set(event.event_id, place);
    return { ...target, event: place };
  });
  return { events, deliveries };
}

/** The endpoints of a group that keep failing, so that first attempts at them wait; `undefined` if there are none. */
function heldBack(pending: readonly PendingDelivery[]): Record<string, HeldBack> | undefined {
  const held: Record<string, HeldBack> = {};
  for (const { target, failing } of pending) {
    const reason = holdBack(failing, Date.now(), Math.random());
    if (reason) held[target.endpoint_id] ??= reason;
  }
  return Object.keys(held).length > 0 ? held : undefined;
}

/** A workflow that runs already, or has run, is what was wanted. */
async function unlessStarted(start: Promise<unknown>): Promise<void> {
  try {
    await start;
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
