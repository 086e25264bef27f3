import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  ParentClosePolicy,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  startChild,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { AttemptReport } from '../src/domain/delivery/attempt-report.js';
import { isClosed } from '../src/domain/delivery/delivery.js';
import {
  batches,
  GroupMachine,
  type GroupStep,
  type LiveGroup,
  type MemberAttempt,
} from '../src/domain/delivery/delivery-group.js';
import { describeStates, statusesOf, summarizeMembers } from '../src/domain/delivery/group-summary.js';
import { attemptPriority, isolatedQueue } from '../src/domain/delivery/lanes.js';
import { deliveryAttributes, groupStatus, STATUS_ATTRIBUTE } from '../src/domain/ledger/search-attributes.js';
import { deliverySummary, fitSummary } from '../src/domain/ledger/summaries.js';
import { deliveryWorkflowId } from '../src/domain/ledger/workflow-ids.js';
import { closingOf } from '../src/domain/stats/closing.js';
import { TIMINGS, type Timings } from '../src/domain/timings.js';
import { continueWithMemo } from './continue-with-memo.js';
import { ATTEMPT_OVERHEAD_MS, deliverEvent } from './deliver-event.js';
import type { DeliverTogetherResult } from './inputs.js';
import { lostFirstTasks } from './lost-tasks.js';
import { type HandOver, handOver, releaseMembers } from './messages.js';
import { deliveries as sink } from './sinks.js';

/**
 * A delivery with so many attempts, or with so long a record (JSON), goes on by itself: all records must fit into one result, of which
 * Temporal takes 2 MiB, whatever endpoints answer.
 */
export const MAX_ATTEMPTS_IN_GROUP = 12;
export const MAX_RECORD_CHARACTERS = 10_000;
/** Of the records of a large group together. */
const MAX_RECORDS_CHARACTERS = 600_000;

/**
 * Inputs of deliveries that go on by themselves, so many characters together, are started at once. They are in one call, of which Temporal
 * takes 4 MiB, and in the history, which can go on in a new run in between.
 */
const MAX_LEAVING_CHARACTERS = 500_000;

/** Attempts at an endpoint that hangs are made a few at a time: an activity that has not ended after so long is lost. */
const BATCH_TIMEOUT = '5m';

/**
 * Delivers events that arrived while Temporal was busy: like a database that commits waiting transactions together, one execution
 * stands for many deliveries, from their first attempts to their ends. Those that wait share a timer, those that are due share an
 * activity, and one signal releases all that are parked for an endpoint. A delivery that somebody acts upon goes on as a `deliverEvent`
 * of its own.
 *
 * It completes with the records of all that have not left it, however they ended; or only with their number, if all were delivered at once.
 */
export async function deliverTogether(input: LiveGroup): Promise<DeliverTogetherResult> {
  // A group cannot be cancelled as a whole; each of its deliveries can.
  return CancellationScope.nonCancellable(() => new TogetherDelivery(input).run());
}

class TogetherDelivery {
  private readonly input: LiveGroup;
  private readonly timings: Timings;
  private readonly machine: GroupMachine;
  /** Deliveries that are about to leave, with the size of what they go on with. */
  private readonly leaving = new Map<number, number>();
  /** Closed deliveries that have been counted. */
  private readonly counted = new Set<number>();
  /** Endpoints whose deliveries have just been released and are attempted in the direct lane. */
  private readonly answering = new Set<string>();
  private batchesInFlight = 0;
  private stirred = false;
  private broken: unknown;
  private shown: { states: string; status: string; at: number };

  constructor(input: LiveGroup) {
    this.input = input;
    this.timings = { ...TIMINGS, ...input.timings };
    this.machine = new GroupMachine(input, Date.now());
    // What earlier runs have closed, they have counted.
    for (const index of input.so_far ? this.closed : []) this.counted.add(index);
    const { memo, typedSearchAttributes } = workflowInfo();
    this.shown = {
      states: JSON.stringify(memo?.['states'] ?? []),
      status: typedSearchAttributes.get(STATUS_ATTRIBUTE) ?? groupStatus([]),
      at: Date.now(),
    };
    setHandler(releaseMembers, ({ endpoint_id, limit, most, direct, probe }) => {
      this.machine.release(endpoint_id, limit, most, probe);
      if (direct) this.answering.add(endpoint_id);
      this.stirred = true;
    });
    setHandler(handOver, (order) => this.handOver(order), { validator: (order) => this.refuse(order) });
  }

  async run(): Promise<DeliverTogetherResult> {
    const first = this.machine.firstAttempts;
    let now = Date.now();
    if (first.length > 0 && !this.input.so_far) {
      await this.attemptFirst(first);
      now = this.machine.settledAt;
    }
    for (; ; now = Date.now()) {
      this.stirred = false;
      await this.handOverLongest();
      let { released, wakeAt, because } = this.beginDue(now);
      while (released.length > 0) {
        await this.attemptReleased(released, now);
        now = this.machine.settledAt;
        ({ released, wakeAt, because } = this.beginDue(now));
      }
      this.count();
      this.show(now);
      if (this.isOver) return this.result;
      if (this.batchesInFlight === 0 && workflowInfo().continueAsNewSuggested) await this.carryOn();
      const isStirred = () => this.stirred || this.broken !== undefined || this.isOver;
      if (wakeAt === undefined) await condition(isStirred);
      else await condition(isStirred, Math.max(wakeAt - Date.now(), 1), { summary: fitSummary(because) });
      if (this.broken !== undefined) throw this.broken;
    }
  }

  /** What makes attempts in the direct lane, inside a workflow task. */
  private get direct() {
    return proxyLocalActivities<Activities>({
      startToCloseTimeout: this.input.attempt_timeout_ms + ATTEMPT_OVERHEAD_MS,
      retry: { maximumAttempts: 1 },
    });
  }

  private get isOver(): boolean {
    return !this.machine.isOpen && this.leaving.size === 0 && allHandlersFinished();
  }

  /** Records that the history has already are not written again: they are half of what a group takes. */
  private get result(): DeliverTogetherResult {
    const { records } = this.machine;
    const atOnce = records.filter((record) => record?.status === 'delivered' && record.attempts.length === 1);
    return atOnce.length === records.length ? { delivered: records.length } : { deliveries: records };
  }

  /** The first attempts at healthy endpoints, inside the first workflow task. */
  private async attemptFirst(first: MemberAttempt[]): Promise<void> {
    let reports: readonly (AttemptReport | null)[] = [];
    if (!this.input.isolated) {
      const { events, deliveries, attempt_timeout_ms: timeout_ms } = this.input;
      const lost_tries = lostFirstTasks();
      const request = { events, deliveries, timeout_ms, ...(lost_tries > 0 && { lost_tries }) };
      reports = await this.direct.attemptGroup(request).catch(() => []);
    }
    const unmade = this.machine.settle(first, reports, Date.now());
    if (unmade.length > 0) this.begin(unmade);
  }

  /** Begins what is due. @returns what is left of it, to be attempted in the direct lane, and what comes after that */
  private beginDue(now: number): Omit<GroupStep, 'due'> & { released: MemberAttempt[] } {
    const { due, ...next } = this.machine.step(now);
    const isDirect = ({ trigger, index }: MemberAttempt) =>
      trigger === 'released' && this.answering.has(this.input.deliveries[index]?.endpoint_id ?? '');
    const released = due.filter(isDirect);
    this.answering.clear();
    const others = due.filter((attempt) => !released.includes(attempt));
    for (const batch of batches(this.machine, this.input, others)) this.begin(batch);
    return { ...next, released };
  }

  /** Attempts in the direct lane, inside the workflow task: at endpoints that answer again. */
  private async attemptReleased(attempts: readonly MemberAttempt[], now: number): Promise<void> {
    const { events, deliveries, attempt_timeout_ms: timeout_ms } = this.input;
    const request = { attempts, events, deliveries, timeout_ms };
    const made = await this.direct.attemptReleased(request).catch(() => undefined);
    const unmade = this.machine.settle(attempts, made?.reports ?? [], now);
    if (unmade.length > 0) this.begin(unmade);
  }

  private begin(batch: readonly MemberAttempt[]): void {
    this.batchesInFlight += 1;
    this.attempt(batch)
      .catch((error: unknown) => {
        this.broken = error;
      })
      .finally(() => {
        this.batchesInFlight -= 1;
        this.stirred = true;
      });
  }

  /** Makes attempts together. Temporal repeats them if they are lost. */
  private async attempt(batch: readonly MemberAttempt[]): Promise<void> {
    const endpoints = new Set(batch.map(({ index }) => this.input.deliveries[index]?.endpoint_id ?? ''));
    const [endpoint = ''] = endpoints;
    const { attemptMembers } = proxyActivities<Activities>({
      taskQueue: isolatedQueue(workflowInfo().taskQueue),
      startToCloseTimeout: BATCH_TIMEOUT,
      heartbeatTimeout: this.input.attempt_timeout_ms + ATTEMPT_OVERHEAD_MS,
      retry: { initialInterval: '1s', maximumInterval: '1m' },
      summary: batch.length === 1 ? 'an attempt' : `${batch.length} attempts`,
      priority: {
        priorityKey: Math.min(...batch.map(({ trigger, number }) => attemptPriority(trigger, number, false))),
        fairnessKey: endpoints.size === 1 ? endpoint : workflowInfo().workflowId,
      },
    });
    for (let left = batch; left.length > 0; ) {
      const reports = await attemptMembers({ attempts: left }).catch(() => []);
      const unmade = this.machine.settle(left, reports, Date.now());
      if (unmade.length === left.length) await sleep(this.timings.group_broken_ms);
      left = unmade;
    }
  }

  /**
   * Hands over deliveries whose record has become long, as many as may leave at once. While the group would go on in a new run, and attempts
   * are in flight, it hands over none: each makes the history longer, and Temporal ends an execution whose history has 50 MB.
   */
  private async handOverLongest(): Promise<void> {
    const { deliveries } = this.input;
    const longest = Math.min(MAX_RECORD_CHARACTERS, MAX_RECORDS_CHARACTERS / deliveries.length);
    const long = deliveries.flatMap((_, index) => {
      const record = this.machine.member(index)?.record;
      if (!record || !this.canLeave(index)) return [];
      const isLong =
        record.attempts.length >= MAX_ATTEMPTS_IN_GROUP || JSON.stringify(record).length > longest;
      return isLong ? [index] : [];
    });
    if (long.length === 0) return;
    const isFull = workflowInfo().continueAsNewSuggested && this.batchesInFlight > 0;
    if (isFull && patched('leaves-after-batches')) return;
    const atOnce = this.leavingAtOnce(long);
    await Promise.all(atOnce.map((index) => this.leave(index)));
    this.showDeparted();
    if (atOnce.length < long.length) this.stirred = true;
  }

  /** The first of these deliveries, and the next ones that may leave with it. */
  private leavingAtOnce(indexes: readonly number[]): readonly number[] {
    let size = 0;
    const end = indexes.findIndex((index, position) => {
      size += this.sizeOf(index);
      return position > 0 && size > MAX_LEAVING_CHARACTERS;
    });
    return end > 0 && patched('leaves-in-parts') ? indexes.slice(0, end) : indexes;
  }

  /** Whether a delivery may leave while others do. */
  private hasRoom(index: number): boolean {
    const size = [...this.leaving.values()].reduce((sum, one) => sum + one, this.sizeOf(index));
    return this.leaving.size === 0 || size <= MAX_LEAVING_CHARACTERS;
  }

  /** About how many characters a delivery goes on with: the payload, and its record in the input and in the memo. */
  private sizeOf(index: number): number {
    const { events, deliveries } = this.input;
    const payload = events[deliveries[index]?.event ?? -1]?.payload ?? '';
    return payload.length + 2 * JSON.stringify(this.machine.member(index)?.record ?? null).length;
  }

  private refuse({ event_id, endpoint_id, action }: HandOver): void {
    const machine = this.machine.member(this.machine.find(event_id, endpoint_id));
    // One that has left, or is about to, is acted upon under its own id.
    const absence = this.machine.has(event_id, endpoint_id) ? undefined : 'the delivery is not in this group';
    const reason = machine ? machine.refusal(action) : absence;
    if (reason) throw ApplicationFailure.create({ type: 'refused', message: reason, nonRetryable: true });
  }

  private canLeave(index: number): boolean {
    const machine = this.machine.member(index);
    return machine !== undefined && machine.refusal('cancel') === undefined;
  }

  private async handOver(order: HandOver): Promise<void> {
    const { event_id, endpoint_id } = order;
    const index = this.machine.find(event_id, endpoint_id);
    if (this.canLeave(index) && !this.hasRoom(index) && patched('leaves-in-parts')) {
      // Of those that wait, another may take the room first.
      while (!this.hasRoom(index)) await condition(() => this.hasRoom(index));
      if (this.machine.member(index)) this.refuse(order);
    }
    if (this.canLeave(index)) {
      await this.leave(index);
      this.showDeparted();
    } else {
      // Another message in the same workflow task has done so.
      await condition(() => this.leaving.size === 0);
    }
    this.stirred = true;
  }

  /** Has a delivery go on as a `deliverEvent`, which outlives the group. */
  private async leave(index: number): Promise<void> {
    const { events, deliveries, attempt_timeout_ms, park_limit_ms } = this.input;
    const delivery = deliveries[index];
    const event = delivery && events[delivery.event];
    const size = this.sizeOf(index);
    const snapshot = this.machine.depart(index);
    if (!event || !snapshot) return;
    this.leaving.set(index, size);
    const { endpoint_id, schedule = this.input.schedule } = delivery;
    const { status } = snapshot.record;
    try {
      await startChild(deliverEvent, {
        workflowId: deliveryWorkflowId(event.account_id, { event_id: event.event_id, endpoint_id }),
        args: [{ ...event, endpoint_id, schedule, attempt_timeout_ms, park_limit_ms, so_far: snapshot }],
        parentClosePolicy: ParentClosePolicy.ABANDON,
        staticSummary: deliverySummary(event.event_kind, { endpoint_id }),
        memo: {
          delivery: snapshot.record,
          created_at: this.createdAt,
          ...(event.sequence !== undefined && { sequence: event.sequence }),
        },
        typedSearchAttributes: deliveryAttributes(event, endpoint_id, { status }),
      });
    } catch (error) {
      // It goes on already: an event that was accepted twice.
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    } finally {
      this.leaving.delete(index);
    }
  }

  private async carryOn(): Promise<void> {
    await condition(() => this.leaving.size === 0 && allHandlersFinished());
    if (this.batchesInFlight > 0) return;
    upsertMemo({ created_at: this.createdAt });
    await continueWithMemo<typeof deliverTogether>({ ...this.input, so_far: this.machine.snapshots });
  }

  /** When the deliveries were accepted, whichever run this is. */
  private get createdAt(): string {
    const known = workflowInfo().memo?.['created_at'];
    return typeof known === 'string' ? known : workflowInfo().startTime.toISOString();
  }

  private showDeparted(): void {
    upsertMemo({ handed_over: this.machine.departed });
  }

  /** Tells the process which deliveries have been closed since the last time. */
  private count(): void {
    const { events, deliveries } = this.input;
    const closings = this.closed.flatMap((index) => {
      const delivery = deliveries[index];
      const event = delivery && events[delivery.event];
      const record = this.machine.member(index)?.record;
      if (this.counted.has(index) || !event || !record) return [];
      this.counted.add(index);
      return closingOf(event, delivery.endpoint_id, record) ?? [];
    });
    if (closings.length > 0) sink.closed(closings);
  }

  /** Indexes of the deliveries that are closed and have not left the group. */
  private get closed(): number[] {
    return this.machine.records.flatMap((record, index) =>
      record && isClosed(record.status) ? [index] : [],
    );
  }

  /** Writes how the deliveries stand where lists and operators look. */
  private show(now: number): void {
    const { records, isOpen } = this.machine;
    const settled = this.batchesInFlight === 0 || now - this.shown.at >= this.timings.group_shown_ms;
    // A signal in the same task as the last reports is noticed before their batch has ended.
    if (!settled && !(this.isOver && patched('shows-its-end'))) return;
    const summary = summarizeMembers(records, isOpen);
    const states = JSON.stringify(summary);
    const status = groupStatus(statusesOf(summary));
    if (states !== this.shown.states) {
      upsertMemo({ states: summary });
      setCurrentDetails(describeStates(summary));
    }
    if (status !== this.shown.status) upsertSearchAttributes([{ key: STATUS_ATTRIBUTE, value: status }]);
    this.shown = { states, status, at: now };
  }
}
