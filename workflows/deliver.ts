import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  sleep,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import { reasonOf } from '../src/domain/attempt/cause.js';
import { type MemberAttempt, withLost } from '../src/domain/delivery/attempt-order.js';
import { carriedOn, nextRun } from '../src/domain/delivery/carried.js';
import type { DeliveryRecord } from '../src/domain/delivery/delivery.js';
import {
  batches,
  GroupMachine,
  type GroupStep,
  type LiveGroup,
} from '../src/domain/delivery/delivery-group.js';
import type { Action } from '../src/domain/delivery/delivery-machine.js';
import { type GroupInput, groupOf, inputOf } from '../src/domain/delivery/group-input.js';
import { attemptPriority, isolatedQueue } from '../src/domain/delivery/lanes.js';
import { fitSummary } from '../src/domain/ledger/summaries.js';
import type { MadeAttempts } from '../src/domain/records/row/attempt-orders.js';
import { endOfAttempts } from '../src/domain/records/row/attempt-orders.js';
import { reportsOf } from '../src/domain/records/row/delivered-attempts.js';
import { TIMINGS, type Timings } from '../src/domain/timings.js';
import { continueWithMemo } from './continue-with-memo.js';
import { endCancelled } from './end-cancelled.js';
import type { DeliverResult } from './inputs.js';
import { lostFirstTasks } from './lost-first-tasks.js';
import { ACTIONS, act, actIn, actorOf, release } from './messages.js';
import { RowKeeper, startedAt } from './row-keeper.js';
import { ShownStates } from './shown-states.js';

/** Beyond the attempt's own limit: reading the endpoint, signing, and the way back to Temporal. */
const ATTEMPT_OVERHEAD_MS = 10_000;

/**
 * Attempts at an endpoint that hangs are made a few at a time: an activity that has not ended after so long is lost.
 */
const BATCH_TIMEOUT = '5m';

/** The longest record in the response to an act, bytes. Temporal takes 2 MiB. */
const MAX_RESULT_BYTES = 600_000;

/**
 * Delivers events to endpoints: usually one to one; under load, and where an event goes to many, up to 120 deliveries
 * together, as a database commits waiting transactions together. The first attempts are made at once, in a local
 * activity in the first workflow task, so that a delivery that succeeds costs six history events. Those that wait share
 * a timer, those that are due share an activity, and one signal releases all that are parked for an endpoint. Acts
 * change a delivery where it is.
 *
 * What happens is kept in the rows of the deliveries, in MongoDB: by the local activity that makes the first attempts,
 * and after that whenever a record has changed. The execution ends only when its rows are kept. Its status is that of
 * its only delivery: it completes if that was delivered, fails if it is exhausted or expired, and is cancelled if
 * somebody gave it up. With several it completes however they ended.
 */
export async function deliver(input: GroupInput): Promise<DeliverResult> {
  const scope = CancellationScope.current();
  // A cancellation is for the wait of an only delivery, not for attempts; of several, each is cancelled by itself.
  return CancellationScope.nonCancellable(() => new Deliveries(groupOf(input), scope).run());
}

/** Released deliveries that are attempted in the direct lane. */
interface Released {
  released: MemberAttempt[];
  /** When the oldest of their releases was sent, by MongoDB's time, milliseconds since the epoch. */
  releasedAt?: number;
}

/**
 * Workflow of one or more deliveries: its commands depend on times that stand in its history, and not on the clock
 * around a local activity. A task that lasts longer than 8 s is kept alive by others, and a replay, which takes them
 * for one, has the time of the last of them from its beginning. So a local activity says when it has ended, by the time
 * at which it was asked for, and what comes meanwhile is taken in then; where the clock of a task has decided
 * something, that task has none. Timers say whether a time has come. No clock but Temporal's counts.
 */
class Deliveries {
  private readonly input: LiveGroup;
  private readonly scope: CancellationScope;
  private readonly timings: Timings;
  private readonly machine: GroupMachine;
  /** When this run began, milliseconds since the epoch. */
  private readonly began = workflowInfo().startTime.getTime();
  /**
   * Endpoints whose deliveries have just been released and are attempted in the direct lane, and when the release was
   * sent.
   */
  private readonly releasedDirect = new Map<string, number | undefined>();
  private batchesInFlight = 0;
  /** News that came during a local activity, which are taken in when it has ended; absent: there is none. */
  private meanwhile: ((now: number) => void)[] | undefined;
  /** The clock of this task has decided something. */
  private hasReadClock = false;
  /** Something happened that may have changed what comes next. */
  private isWoken = false;
  /** Somebody has acted, and wants to see it. */
  private acted = false;
  private broken: unknown;
  private readonly rows: RowKeeper;
  private readonly shown: ShownStates;

  /** @param scope in which Temporal's own cancellation is noticed */
  constructor(input: LiveGroup, scope: CancellationScope) {
    this.input = input;
    this.scope = scope;
    this.timings = { ...TIMINGS, ...input.timings };
    this.machine = new GroupMachine(input, this.began);
    this.rows = new RowKeeper(input, this.machine, {
      inTask: (what, now) => this.inTask(what, now),
      onKept: (error) => {
        this.broken ??= error;
        this.isWoken = true;
      },
    });
    // Earlier runs have stored the rows of deliveries that they closed.
    for (const index of input.so_far ? this.machine.closed : []) this.rows.isKept(index);
    this.shown = new ShownStates(input, this.machine, this.timings);
    this.listen();
  }

  private listen(): void {
    setHandler(release, (some) => {
      void this.tell((now) => {
        this.rows.sayReleased(this.machine.release(some, now), some, now);
        if (some.direct) {
          const earlier = this.releasedDirect.get(some.endpoint_id) ?? some.sent_at;
          this.releasedDirect.set(some.endpoint_id, earlier);
        }
        this.isWoken = true;
      }, this.machine.isAskedToWait(some.endpoint_id));
    });
    setHandler(act, (order) => this.act(order), { validator: (order) => this.refuse(order) });
    this.scope.cancelRequested.catch(() => {
      this.isWoken = true;
    });
  }

  /**
   * Takes in what the workflow has heard of, which may depend on the time: at once, or when the local activity under
   * way has ended.
   */
  private tell<T>(what: (now: number) => T, dependsOnTime: boolean): T | Promise<T> {
    const { meanwhile } = this;
    if (meanwhile) return new Promise((resolve) => meanwhile.push((now) => resolve(what(now))));
    this.hasReadClock ||= dependsOnTime;
    return what(Date.now());
  }

  async run(): Promise<DeliverResult> {
    const first = this.machine.firstAttempts;
    let now = Date.now();
    if (first.length > 0 && !this.input.so_far) {
      await this.attemptFirst(first);
      now = this.machine.settledAt;
    } else {
      this.hasReadClock = true;
      // A run goes on when nothing is in flight, unless it takes the place of one that is lost.
      if (first.length > 0) await this.rows.keep(now);
      this.begin(first.map((one) => withLost(one, 1)));
    }
    for (;;) {
      this.isWoken = false;
      if (this.scope.consideredCancelled) this.machine.cancelSole(now);
      // Before attempts begin, which tell of their deliveries themselves.
      await this.rows.keep(now, true);
      let { wakeAt, because, ...due } = this.beginDue(now);
      while (due.released.length > 0) {
        await this.attemptReleased(due, now);
        now = this.machine.settledAt;
        ({ wakeAt, because, ...due } = this.beginDue(now));
      }
      await this.rows.keep(now);
      this.shown.count();
      // A signal in the same task as the last reports is noticed before their batch has ended.
      this.shown.show(now, this.acted || this.isOver || this.batchesInFlight === 0);
      this.acted = false;
      if (this.isOver) return this.end();
      if (this.isAtRest && workflowInfo().continueAsNewSuggested) await this.carryOn();
      const isAwake = () => this.isWoken || this.broken !== undefined || this.isOver;
      this.hasReadClock = false;
      if (wakeAt === undefined) {
        await condition(isAwake);
        now = Date.now();
      } else {
        const summary = fitSummary(because);
        const isEarly = await condition(isAwake, Math.max(wakeAt - Date.now(), 1), { summary });
        now = isEarly ? Math.min(Date.now(), wakeAt - 1) : Math.max(Date.now(), wakeAt);
        this.hasReadClock ||= !isEarly;
      }
      if (this.broken !== undefined) throw this.broken;
    }
  }

  /** Activities that make attempts in the direct queue, inside a workflow task. */
  private get direct() {
    return proxyLocalActivities<Activities>({
      startToCloseTimeout: this.input.attempt_timeout_ms + ATTEMPT_OVERHEAD_MS,
      retry: { maximumAttempts: 1 },
    });
  }

  private get isOver(): boolean {
    return !this.machine.isOpen && allHandlersFinished() && this.rows.areAllKept;
  }

  /** Nothing is under way, so that another run can go on. */
  private get isAtRest(): boolean {
    return this.batchesInFlight === 0 && allHandlersFinished() && this.rows.areAllKept;
  }

  /** Does something in a local activity, and takes in what came meanwhile. @param now when it counts as having ended */
  private async inTask<T>(what: () => Promise<T>, now: number | ((result: T) => number)): Promise<T> {
    this.meanwhile = [];
    const result = await what();
    const { meanwhile = [] } = this;
    this.meanwhile = undefined;
    for (const take of meanwhile) take(typeof now === 'number' ? now : now(result));
    return result;
  }

  /** The first attempts at healthy endpoints, inside the first workflow task. */
  private async attemptFirst(first: MemberAttempt[]): Promise<void> {
    const { isolated, begun } = this.input;
    const lost_tries = isolated ? 0 : lostFirstTasks();
    if (isolated) await this.rows.keep(this.began);
    const orders = this.rows.ordersFor(first);
    const known = { ...(lost_tries > 0 && { lost_tries }), ...(begun && { begun }) };
    const make = () =>
      this.direct.attemptFirst({ ...orders, ...known, asked_at: Date.now() }).catch(() => undefined);
    const made = isolated
      ? undefined
      : await this.inTask(make, (result) => endOfAttempts(result) ?? this.began);
    const lost = isolated ? 0 : lostIn(made);
    this.begin(this.settle(first, made, endOfAttempts(made) ?? this.began, lost));
  }

  /** Begins what is due. @returns what is left of it, to be attempted in the direct lane, and what comes after that */
  private beginDue(now: number): Omit<GroupStep, 'due'> & Released {
    const { due, ...next } = this.machine.step(now);
    const endpointOf = ({ index }: MemberAttempt) => this.input.deliveries[index]?.endpoint_id ?? '';
    const isDirect = (one: MemberAttempt) =>
      one.trigger === 'released' && this.releasedDirect.has(endpointOf(one)) && !this.hasReadClock;
    const released = due.filter(isDirect);
    const sent = released.flatMap((one) => this.releasedDirect.get(endpointOf(one)) ?? []);
    this.releasedDirect.clear();
    const others = due.filter((attempt) => !released.includes(attempt));
    for (const batch of batches(this.machine, this.input, others)) this.begin(batch);
    return { ...next, released, ...(sent.length > 0 && { releasedAt: Math.min(...sent) }) };
  }

  /** Attempts in the direct lane, inside the workflow task: at endpoints that answer again. */
  private async attemptReleased({ released: attempts, releasedAt }: Released, now: number): Promise<void> {
    const orders = this.rows.ordersFor(attempts);
    const asked_at = Date.now();
    const waited = releasedAt === undefined ? {} : { waited_ms: asked_at - releasedAt };
    const make = () => this.direct.attemptReleased({ ...orders, ...waited, asked_at }).catch(() => undefined);
    const made = await this.inTask(make, (result) => endOfAttempts(result) ?? now);
    this.begin(this.settle(attempts, made, endOfAttempts(made) ?? now, lostIn(made)));
  }

  /**
   * Takes in what was made of attempts.
   *
   * @param lost number of tries of each that may have been sent
   * @returns those that were not made
   */
  private settle(
    attempts: readonly MemberAttempt[],
    made: MadeAttempts | undefined,
    now: number,
    lost: number,
  ): MemberAttempt[] {
    const reports = made && reportsOf(made, attempts);
    const isRecorded = new Set(made?.recorded?.map(({ index }) => index));
    for (const { index, snapshot } of made?.recorded ?? []) this.machine.adopt(index, snapshot);
    const others = attempts.flatMap((attempt, position) =>
      isRecorded.has(attempt.index) ? [] : [{ attempt, report: reports?.[position] }],
    );
    const unmade = this.machine.settle(
      others.map(({ attempt }) => withLost(attempt, lost)),
      others.map(({ report }) => report),
      now,
    );
    // The row of a first attempt that was not made says so.
    if (made?.kept)
      for (const { index, number } of attempts)
        if (number === 1 || !unmade.some((one) => one.index === index)) this.rows.isKept(index);
    this.rows.ended(attempts, ({ index }) => made?.kept === true || isRecorded.has(index));
    return unmade;
  }

  private begin(batch: readonly MemberAttempt[]): void {
    if (batch.length === 0) return;
    this.batchesInFlight += 1;
    this.attempt(batch)
      .catch((error: unknown) => {
        this.broken = error;
      })
      .finally(() => {
        this.batchesInFlight -= 1;
        this.isWoken = true;
      });
  }

  /**
   * Makes attempts together in the isolated lane. An attempt that the endpoint fails is a result, not an error:
   * Temporal repeats only those that could not be made or were lost.
   */
  private async attempt(batch: readonly MemberAttempt[]): Promise<void> {
    const endpoints = new Set(batch.map(({ index }) => this.input.deliveries[index]?.endpoint_id ?? ''));
    const [endpoint = ''] = endpoints;
    const isResend = this.input.resent !== undefined;
    const { attemptMembers } = proxyActivities<Activities>({
      taskQueue: isolatedQueue(workflowInfo().taskQueue),
      startToCloseTimeout: BATCH_TIMEOUT,
      heartbeatTimeout: this.input.attempt_timeout_ms + ATTEMPT_OVERHEAD_MS,
      retry: { initialInterval: '1s', maximumInterval: '1m' },
      summary: batch.length === 1 ? `attempt ${batch[0]?.number}` : `${batch.length} attempts`,
      priority: {
        priorityKey: Math.min(
          ...batch.map(({ trigger, number }) => attemptPriority(trigger, number, isResend)),
        ),
        fairnessKey: endpoints.size === 1 ? endpoint : workflowInfo().workflowId,
      },
    });
    for (let left = batch; left.length > 0; ) {
      const made = await attemptMembers(this.rows.ordersFor(left)).catch(() => undefined);
      const unmade = await this.tell((now) => this.settle(left, made, now, made?.lost_tries ?? 0), true);
      if (unmade.length === left.length) await sleep(this.timings.group_broken_ms);
      left = unmade;
    }
  }

  private refuse(order: unknown): void {
    const { action, delivery } = actIn(order);
    const isKnown = ACTIONS.some((one) => one === action);
    const reason = isKnown
      ? this.machine.refusal(this.machine.find(delivery), action as Action, actorOf(order))
      : `an action is needed: {"action": …}, one of ${ACTIONS.join(', ')}`;
    if (reason) throw ApplicationFailure.create({ type: 'refused', message: reason, nonRetryable: true });
  }

  /** Returns when the row of the delivery says it, unless rows cannot be kept at the moment. */
  private async act(order: unknown): Promise<DeliveryRecord> {
    const { action, delivery } = actIn(order);
    const index = this.machine.find(delivery);
    if (action) this.machine.act(index, action, actorOf(order), Date.now());
    this.isWoken = true;
    this.acted = true;
    await this.rows.untilTold(index);
    const snapshot = this.machine.member(index)?.snapshot;
    const [shown] = snapshot ? carriedOn([snapshot], MAX_RESULT_BYTES) : [];
    if (!shown) throw new Error(`there is no delivery ${delivery}`);
    return shown.record;
  }

  private async carryOn(): Promise<void> {
    upsertMemo({ created_at: startedAt() });
    const next = inputOf(nextRun(this.input, this.machine.snapshots));
    await continueWithMemo<typeof deliver>(next);
  }

  /**
   * Ends the execution so that its own status tells the outcome of an only delivery, as Temporal UI's filters ask for
   * it.
   */
  private async end(): Promise<DeliverResult> {
    const { result } = this;
    const { record } = this.machine.sole ?? {};
    const status = record?.status ?? 'delivered';
    if (status === 'delivered') return result;
    if (status === 'cancelled') return endCancelled(this.scope);
    const message = (record && reasonOf(record)) || status;
    throw ApplicationFailure.create({ type: status, message, nonRetryable: true, details: [result] });
  }

  /** How many ended how. */
  private get result(): DeliverResult {
    const result: DeliverResult = {};
    for (const { status } of this.machine.records) result[status] = (result[status] ?? 0) + 1;
    return result;
  }
}

/**
 * How many tries of attempts that were not made may have arrived. A local activity that has failed may have sent them,
 * or waited for the process that did: it was not in time.
 */
function lostIn(made: MadeAttempts | undefined): number {
  return made ? (made.lost_tries ?? 0) : 1;
}
