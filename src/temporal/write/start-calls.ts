import { setTimeout as delay } from 'node:timers/promises';
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandleWithStartDetails,
  type WorkflowStartOptions,
} from '@temporalio/client';
import type { deliver } from '../../../workflows/index.js';
import type { AttemptReport } from '../../domain/attempt/attempt-report.js';
import { deliveryId } from '../../domain/basics/delivery-id.js';
import type { FirstOrder } from '../../domain/delivery/attempt-order.js';
import {
  type DeliveryGroup,
  type DeliverySettings,
  type DeliveryTarget,
  type Intervention,
  type NamedEvent,
  type NamedTarget,
  namedEvent,
} from '../../domain/delivery/delivery.js';
import {
  GROUP_VERSION,
  GroupMachine,
  type LiveGroup,
  waitFromStart,
} from '../../domain/delivery/delivery-group.js';
import type { DeliverySnapshot } from '../../domain/delivery/delivery-state.js';
import { inputOf } from '../../domain/delivery/group-input.js';
import { describeStates, statusesOf } from '../../domain/delivery/group-summary.js';
import type { HeldBack } from '../../domain/endpoint/breaker/circuit-breaker.js';
import { deliveryAttributes, groupStatus, ledgerAttributes } from '../../domain/ledger/search-attributes.js';
import { deliverySummary, groupSummary } from '../../domain/ledger/summaries.js';
import {
  DELIVERY_TYPE,
  deliveryWorkflowId,
  groupWorkflowId,
  isGroup,
} from '../../domain/ledger/workflow-ids.js';
import { settledOrders, TURNS_OF_ATTEMPTS } from '../../domain/records/row/attempt-orders.js';
import { type DeliveryRows, type ToldRun, toldOf } from '../../domain/records/told.js';
import { sharedDate, sharedNow } from '../../domain/time/shared-time.js';
import { TIMINGS, type Timings, timingsOfInput } from '../../domain/timings.js';
import { startedNow } from '../errors.js';
import { ACT_MEMO, REPLAY_MEMO, RESEND_MEMO, type ResendMemo } from '../read/earlier-runs.js';
import { readMemberIds } from '../read/group-members.js';
import { describeExecution } from '../read/visibility/visibility.js';
import type { PendingDelivery } from './admission.js';
import { type OnceOnly, onceOnly } from './once-only.js';

/** Begins first attempts when their event is stored. Their workflows receive the same reports. */
export interface AttemptStarter {
  /** The worker of this process stops, and may not get the workflows of attempts that have begun. */
  readonly isStopping: boolean;
  /** @returns whether it does: not while the process stops */
  begin(orders: readonly FirstOrder[], timeoutMs: number): boolean;
  /**
   * Keeps attempts that have begun, if no workflow of this process has asked for them; it does not get them any more
   * then.
   */
  keepUnclaimed(
    orders: readonly FirstOrder[],
    keep: (reports: (AttemptReport | null)[]) => Promise<void>,
  ): Promise<void>;
}

/** Measures start calls. */
export interface StartObserver {
  /** A call has started so many deliveries. */
  started(deliveries: number, seconds: number, isGroup: boolean): void;
}

export interface StartCallOptions {
  client: Client;
  taskQueue: string;
  settings: DeliverySettings;
  /**
   * Present if this process runs a worker on the client's connection, which gets the first workflow task back with the
   * start.
   */
  earlyAttempts: AttemptStarter | undefined;
  observer?: StartObserver | undefined;
  /** Keeps rows of deliveries that wait from their start on. */
  rows: Pick<DeliveryRows, 'keep'>;
  /** Absent: as usual. */
  timings?: Timings;
}

/** A run that is lost, as the row of its delivery has it. */
export interface LostRun {
  snapshot: DeliverySnapshot;
  /** ISO 8601, UTC. */
  started_at: string;
}

/** An execution whose delivery has closed ends within this, milliseconds, and is asked about this often. */
const ENDS_WITHIN_MS = 3_000;
const ASK_AGAIN_MS = 20;

/** Policy of Temporal if there is such an execution, and the name of the call, if it is to be done once. */
type StartPolicies = Pick<WorkflowStartOptions, 'workflowIdReusePolicy' | 'workflowIdConflictPolicy'> &
  OnceOnly;

/**
 * The calls that start executions of deliveries. A delivery or group that has been started already is not started
 * again.
 */
export class StartCalls {
  private readonly options: StartCallOptions;
  /** Rows that are being kept for executions that run in other processes. */
  private readonly keeping = new Set<Promise<void>>();

  constructor(options: StartCallOptions) {
    this.options = options;
  }

  async startAlone(deliveries: readonly PendingDelivery[]): Promise<void> {
    await Promise.all(deliveries.map((delivery) => startedNow(this.startDelivery(delivery))));
  }

  /**
   * Starts deliveries as a group.
   *
   * @param id names what is in it, so that it is not started twice
   * @returns those of them that are not in it: another process has started it under this id with others
   */
  async startGroup(pending: readonly PendingDelivery[], id: string): Promise<PendingDelivery[]> {
    if (await startedNow(this.startOneGroup(pending, id))) return [];
    const { client } = this.options;
    const execution = await describeExecution(client, groupWorkflowId(id));
    // The rows of what waits could not be kept, or nobody has heard that the start had succeeded.
    if (execution && pending.every(({ placement }) => placement.held))
      await this.keepStarted(this.groupInput(pending), {
        ...{ workflow_id: execution.workflowId, run_id: execution.runId, in_group: true },
      });
    const there = execution ? await readMemberIds(client, execution) : new Set();
    return pending.filter(({ event, target }) => !there.has(deliveryId({ ...event, ...target })));
  }

  /**
   * Starts a new run of a closed delivery, or, through a replay, a delivery of an event that the endpoint never had. A
   * replay starts each delivery once, however often this is called.
   *
   * @param previous the run that is sent again; absent: the endpoint never had the event
   * @returns the new run's id
   * @throws WorkflowExecutionAlreadyStartedError if the delivery is open; without a previous run, if there is such a
   * delivery
   */
  async sendAgain(
    event: NamedEvent,
    target: NamedTarget,
    sender: Sender,
    previous?: ResendMemo,
  ): Promise<string> {
    for (const deadline = performance.now() + ENDS_WITHIN_MS; ; await delay(ASK_AGAIN_MS)) {
      try {
        return await this.startAgain(event, target, sender, previous);
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError) || performance.now() > deadline)
          throw error;
        // Its row says that it has closed a moment before its execution ends.
        const id = deliveryWorkflowId(event.account_id, { ...event, ...target });
        const own = await describeExecution(this.options.client, id);
        if (own && own.runId !== previous?.run_id) throw error;
      }
    }
  }

  private async startAgain(
    event: NamedEvent,
    target: NamedTarget,
    { by, replay, act, traceparent, tracestate }: Sender,
    previous: ResendMemo | undefined,
  ): Promise<string> {
    const runs = previous ? [previous.run_id] : [];
    const { firstExecutionRunId } = await this.startSole(
      // The trace of the first run is over.
      { event: { ...event, traceparent, tracestate }, target, host: () => target.host },
      { isolated: true, resent: intervention(previous ? 'resend' : 'replay', { by, replay }) },
      {
        workflowIdReusePolicy: previous ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE',
        workflowIdConflictPolicy: 'FAIL',
        ...(replay !== undefined &&
          onceOnly([replay, ...runs, event.event_id, target.endpoint_id].join(' '))),
      },
      {
        ...(previous && { [RESEND_MEMO]: previous }),
        ...(act !== undefined && { [ACT_MEMO]: act }),
        ...(replay !== undefined && { [REPLAY_MEMO]: replay }),
      },
    );
    return firstExecutionRunId;
  }

  /**
   * Starts an execution that goes on with a delivery whose own is lost, from what its row says.
   *
   * @param once names the loss: it is made good once, however often this is called
   * @returns whether there is none that is open
   */
  async goOn(event: NamedEvent, target: DeliveryTarget, lost: LostRun, once: string): Promise<boolean> {
    const { snapshot, started_at: created_at } = lost;
    const policies: StartPolicies = {
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
      ...onceOnly(once),
    };
    return startedNow(this.startSole({ event, target }, { so_far: [snapshot] }, policies, { created_at }));
  }

  private async startDelivery(delivery: PendingDelivery): Promise<void> {
    const { isolated } = delivery.placement;
    await this.startSole(delivery, isolated ? { isolated, ...heldBack([delivery]) } : begunIn([delivery]), {
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
  }

  /** Starts an execution of one delivery, under the delivery's id. */
  private async startSole(
    { event, target, host }: Omit<PendingDelivery, 'placement'>,
    more: Partial<LiveGroup>,
    options: StartPolicies,
    memo: Record<string, unknown> = {},
  ): Promise<WorkflowHandleWithStartDetails> {
    const { endpoint_id, schedule, order_key } = target;
    const { event_id, event_kind, account_id } = event;
    const how = { ...(schedule && { schedule }), ...(order_key && { order_key }) };
    const member = { endpoint_id, ...how, event: 0 };
    const input = { events: [namedEvent(event)], deliveries: [member], ...this.options.settings, ...more };
    const handle = await this.start(input, {
      ...options,
      workflowId: deliveryWorkflowId(account_id, { event_id, endpoint_id }),
      requestEagerStart: this.options.earlyAttempts !== undefined,
      staticSummary: deliverySummary(event_kind, { endpoint_id, host: host?.() }),
      staticDetails: deliveryId({ event_id, endpoint_id }),
      memo,
      typedSearchAttributes: deliveryAttributes(event, endpoint_id),
    });
    const { workflowId: workflow_id, firstExecutionRunId: run_id } = handle;
    // The author of the resend sees it at once. If this fails, the execution tells of it.
    if (more.resent) await this.keepStarted(input, { workflow_id, run_id }).catch(() => {});
    return handle;
  }

  /**
   * Starts an execution of deliveries.
   */
  private async start(
    input: LiveGroup,
    options: Omit<WorkflowStartOptions<typeof deliver>, 'args' | 'taskQueue'> & StartPolicies,
  ): Promise<WorkflowHandleWithStartDetails> {
    const { client, taskQueue, observer, timings = TIMINGS } = this.options;
    const { deliveries } = input;
    const began = performance.now();
    const handle = await client.workflow.start<typeof deliver>(DELIVERY_TYPE, {
      ...options,
      taskQueue,
      args: [{ version: GROUP_VERSION, ...inputOf(input), ...timingsOfInput(timings) }],
    } as WorkflowStartOptions<typeof deliver>);
    observer?.started(deliveries.length, (performance.now() - began) / 1_000, isGroup(handle.workflowId));
    // Another process may have got the workflow, which then asks for the rows of what was attempted here.
    const isElsewhere = !handle.eagerlyStarted || this.options.earlyAttempts?.isStopping;
    if (input.begun && !input.begun.is_lost && isElsewhere) {
      const keeping = this.keepBegun(input, handle).finally(() => this.keeping.delete(keeping));
      this.keeping.add(keeping);
    }
    return handle;
  }

  private async startOneGroup(pending: readonly PendingDelivery[], id: string): Promise<void> {
    const input = this.groupInput(pending);
    const { events, deliveries } = input;
    const workflowId = groupWorkflowId(id);
    const kind = events[0]?.event_kind ?? '';
    const waiting = input.held && waitFromStart(input, sharedNow());
    const { states = [] } = waiting ?? {};
    const { firstExecutionRunId: run_id } = await this.start(input, {
      workflowId,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
      ...(waiting
        ? // Until it is released, or its wait is over, it needs no workflow task.
          { startDelay: waiting.waitMs, staticDetails: `At its start:\n\n${describeStates(states)}` }
        : { requestEagerStart: this.options.earlyAttempts !== undefined }),
      staticSummary: groupSummary(
        kind,
        deliveries.map(({ endpoint_id }) => endpoint_id),
        () => pending[0]?.host?.(),
      ),
      typedSearchAttributes: ledgerAttributes({
        accounts: distinct(events.map(({ account_id }) => account_id)),
        endpoints: distinct(deliveries.map(({ endpoint_id }) => endpoint_id)),
        events: distinct(events.map(({ event_id }) => event_id)),
        kind,
        status: groupStatus(statusesOf(states)),
      }),
    });
    if (waiting) await this.keepStarted(input, { workflow_id: workflowId, run_id, in_group: true });
  }

  private groupInput(pending: readonly PendingDelivery[]): LiveGroup {
    const group = { ...toGroup(pending), ...this.options.settings };
    return pending.every(({ placement }) => placement.isolated)
      ? { ...group, ...heldBack(pending), isolated: true }
      : { ...group, ...begunIn(pending) };
  }

  /** Resolves when the rows are kept of all that was attempted in this process for executions that run in others. */
  async allKept(): Promise<void> {
    await Promise.all(this.keeping);
  }

  /** Keeps rows of what was attempted in this process for an execution that runs in another one. */
  private async keepBegun(
    input: LiveGroup,
    { workflowId: workflow_id, firstExecutionRunId: run_id }: WorkflowHandleWithStartDetails,
  ): Promise<void> {
    const { earlyAttempts, rows, settings } = this.options;
    const at = sharedNow();
    const machine = new GroupMachine(input, at);
    const orders = machine.orders(machine.firstAttempts);
    await earlyAttempts?.keepUnclaimed(orders, async (reports) => {
      const now = sharedNow();
      const deliveries = settledOrders({ orders, settings, seed: machine.seed }, reports, now);
      const run = {
        ...{ workflow_id, run_id, started_at: new Date(at).toISOString(), is_first: true as const },
        ...(deliveries.length > 1 && { in_group: true as const }),
      };
      const told = { run, turn: TURNS_OF_ATTEMPTS, at: new Date(now).toISOString(), deliveries };
      // If they cannot be kept, the attempts are made again, and say that they may have arrived.
      await rows.keep(told, true).catch(() => {});
    });
  }

  /** Keeps rows of deliveries as they are at the start of their execution, before it tells of them itself. */
  private async keepStarted(input: LiveGroup, run: Omit<ToldRun, 'started_at'>): Promise<void> {
    const now = sharedNow();
    const machine = new GroupMachine(input, now);
    const deliveries = input.deliveries.flatMap((_, index) => toldOf(input, machine, index) ?? []);
    const at = new Date(now).toISOString();
    const told = { run: { ...run, started_at: at, is_first: true as const }, turn: 0, at, deliveries };
    await this.options.rows.keep(told, !input.resent);
  }
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}

/** The process that has begun first attempts of some deliveries, if there is one. */
function begunIn(pending: readonly PendingDelivery[]): Pick<LiveGroup, 'begun'> {
  const begun = pending.find((one) => one.begun)?.begun;
  return begun ? { begun } : {};
}

/** The endpoints at which first attempts wait, if there are any. */
function heldBack(pending: readonly PendingDelivery[]): Pick<LiveGroup, 'held'> {
  const held: Record<string, HeldBack> = {};
  for (const { placement, target } of pending)
    if (placement.held) held[target.endpoint_id] ??= placement.held;
  return Object.keys(held).length > 0 ? { held } : {};
}

/** Author of a resend, and its replay, if it belongs to one. */
export interface Sender {
  by: string;
  replay?: string | undefined;
  /** Name of the act, under which it is found again. */
  act?: string | undefined;
  /** Trace of the request for it, if that is traced. */
  traceparent?: string | undefined;
  tracestate?: string | undefined;
}

function intervention(action: 'resend' | 'replay', { by, replay }: Sender): Intervention {
  return { action, at: sharedDate().toISOString(), by, ...(replay !== undefined && { replay }) };
}

/** Deliveries as a group's input: each event once, even if several deliveries are of it. */
function toGroup(pending: readonly PendingDelivery[]): DeliveryGroup {
  const indexes = new Map<string, number>();
  const events: NamedEvent[] = [];
  const deliveries = pending.map(({ event, target }) => {
    const index = indexes.get(event.event_id) ?? events.push(namedEvent(event)) - 1;
    indexes.set(event.event_id, index);
    return { ...target, event: index };
  });
  return { events, deliveries };
}
