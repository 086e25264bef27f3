import type { AttemptReport } from '../attempt/attempt-report.js';
import { deliveryId } from '../basics/delivery-id.js';
import { groupedBy } from '../basics/objects.js';
import type { HeldBack } from '../endpoint/breaker/circuit-breaker.js';
import { groupJitter } from '../endpoint/retry-schedule.js';
import type { Timings } from '../timings.js';
import type { AttemptOrder, Begun, MemberAttempt } from './attempt-order.js';
import {
  type DeliveryGroup,
  type DeliveryRecord,
  type DeliverySettings,
  type Intervention,
  isClosed,
} from './delivery.js';
import { type Action, DeliveryMachine, type Surroundings } from './delivery-machine.js';
import type { DeliverySnapshot } from './delivery-state.js';
import { type MemberState, summarizeMembers } from './group-summary.js';

/**
 * Version of new executions. 1: a release is told with the attempt that it leads to, and not before; what came of
 * attempts is in columns.
 */
export const GROUP_VERSION = 1;

/**
 * Deliveries that are made together, each by its own schedule; in most executions one. What the workflow `deliver`
 * starts with: see `GroupInput`.
 */
export interface LiveGroup extends DeliveryGroup, DeliverySettings {
  /** {@link GROUP_VERSION} when the execution was started; absent: 0. */
  version?: number;
  /**
   * Endpoints that were known to be failing or busy when the deliveries were accepted. First attempts at them wait. By
   * endpoint.
   */
  held?: Record<string, HeldBack>;
  /** First attempts, too, are made in the isolated lane: the endpoints are slow or failing. */
  isolated?: boolean;
  /** The process that accepted the events and has begun the first attempts. */
  begun?: Begun;
  /** Author of the resend, if this run resends its only delivery. */
  resent?: Intervention;
  timings?: Timings;
  /** If the group goes on from an earlier run: its members then. */
  so_far?: DeliverySnapshot[];
}

/** Deliveries to release, as the signal `release` says it. */
export interface Release {
  endpoint_id: string;
  /** At most this many, parked ones first and then the oldest; absent for all. */
  limit?: number;
  /** Only this delivery, by its id: what it waited for in its order is over. */
  delivery?: string;
  /** No more attempts of a delivery in a row than this are made because of releases; absent: 1. */
  most?: number;
  /** The endpoint answers well: the attempts are made in the direct lane, inside the workflow task. */
  direct?: boolean;
  /** When it was sent, by MongoDB's time, milliseconds since the epoch; absent if it does not matter. */
  sent_at?: number;
  /**
   * Nobody knows whether the endpoint takes deliveries again: they are attempted to see that, and wait as before if it
   * does not.
   */
  probe?: boolean;
}

/** Next step of a group: attempts that are due now, and a wait for the others. */
export interface GroupStep {
  due: MemberAttempt[];
  /** When the next member is due, milliseconds since the epoch; absent if none waits. */
  wakeAt?: number;
  /** Reason for which that member waits. */
  because: string;
}

/** Author of an action on a delivery. */
export interface DeliveryActor {
  /** An API key's id, or the name that was given in Temporal UI. */
  by: string;
  /** The replay through which they act. */
  replay?: string | undefined;
}

/**
 * The deliveries of an execution, side by side. Only reports of attempts, releases and acts change them, so a reader of
 * the history gets the same records as the workflow. All times are the workflow's: what reports say they are, or those
 * of workflow tasks.
 */
export class GroupMachine {
  private readonly group: LiveGroup;
  private readonly members: DeliveryMachine[];
  private readonly surroundings: Surroundings;
  /** Seed of the jitter of waits, the same for all members. */
  readonly seed: string;
  private now: number;

  /** @param now milliseconds since the epoch */
  constructor(group: LiveGroup, now: number) {
    this.group = group;
    this.now = now;
    this.seed = `${group.events[0]?.event_id}:${group.deliveries[0]?.endpoint_id}`;
    this.surroundings = { now: () => this.now, random: (attempt) => groupJitter(this.seed, attempt) };
    this.members = group.deliveries.map(({ endpoint_id }, index) => {
      const snapshot = group.so_far?.[index];
      if (snapshot) return this.memberFrom(index, snapshot);
      const machine = new DeliveryMachine(this.settingsOf(index), this.surroundings, group.resent);
      const held = group.held?.[endpoint_id];
      if (held) machine.settle(held);
      return machine;
    });
  }

  private settingsOf(index: number): DeliverySettings {
    return { ...this.group, schedule: this.group.deliveries[index]?.schedule ?? this.group.schedule };
  }

  private memberFrom(index: number, snapshot: DeliverySnapshot): DeliveryMachine {
    return DeliveryMachine.from(this.settingsOf(index), this.surroundings, snapshot);
  }

  /** Takes what is recorded of a delivery in place of what is known here. */
  adopt(index: number, snapshot: DeliverySnapshot): void {
    if (this.members[index]) this.members[index] = this.memberFrom(index, snapshot);
  }

  /** The only delivery of the execution; `undefined` if there are several. */
  get sole(): DeliveryMachine | undefined {
    return this.members.length === 1 ? this.members[0] : undefined;
  }

  /**
   * The end of the latest attempts, by their reports. It stands for the time right after a local activity, which the
   * clock of a replay does not have.
   */
  get settledAt(): number {
    return this.now;
  }

  /** Whether something is still to happen to a delivery. */
  get isOpen(): boolean {
    return this.members.some(({ record }) => !isClosed(record.status));
  }

  /** The attempts that are in flight from the beginning. */
  get firstAttempts(): MemberAttempt[] {
    return this.members.flatMap((machine, index) => {
      const { attempting, nextNumber: number } = machine;
      return attempting ? [{ index, number, ...attempting }] : [];
    });
  }

  /** Attempts, with the data that their activity needs to settle them. */
  orders(attempts: readonly MemberAttempt[]): AttemptOrder[] {
    return attempts.flatMap((attempt) => {
      const delivery = this.group.deliveries[attempt.index];
      const event = delivery && this.group.events[delivery.event];
      const snapshot = this.members[attempt.index]?.snapshot;
      if (!event || !snapshot) return [];
      const { endpoint_id, schedule, order_key } = delivery;
      const target = { endpoint_id, ...(schedule && { schedule }), ...(order_key && { order_key }) };
      return [{ event, ...target, snapshot, attempt }];
    });
  }

  /** The records of all deliveries, in their order. */
  get records(): DeliveryRecord[] {
    return this.members.map(({ record }) => record);
  }

  /** Indexes of the deliveries that are closed. */
  get closed(): number[] {
    return this.records.flatMap(({ status }, index) => (isClosed(status) ? [index] : []));
  }

  /** The deliveries as another run can carry on with them. */
  get snapshots(): DeliverySnapshot[] {
    return this.members.map(({ snapshot }) => snapshot);
  }

  /** The index of a delivery, by its id; -1 if there is none. @param id absent: of the only delivery */
  find(id?: string): number {
    const { deliveries, events } = this.group;
    if (id === undefined) return deliveries.length === 1 ? 0 : -1;
    return deliveries.findIndex(
      ({ event, endpoint_id }) => deliveryId({ event_id: events[event]?.event_id ?? '', endpoint_id }) === id,
    );
  }

  member(index: number): DeliveryMachine | undefined {
    return this.members[index];
  }

  /**
   * Why an act on a delivery is refused; `undefined` if it is not. An act of a replay is never refused that the replay
   * has done already: it is asked for again if its answer was lost.
   */
  refusal(index: number, action: Action, { replay }: DeliveryActor): string | undefined {
    const machine = this.members[index];
    if (!machine) return 'there is no such delivery in this execution';
    return machine.hasActed(action, replay) ? undefined : machine.refusal(action);
  }

  /** Does what somebody asks for to a delivery, if it is not refused. @param now milliseconds since the epoch */
  act(index: number, action: Action, { by, replay }: DeliveryActor, now: number): void {
    this.now = now;
    const machine = this.members[index];
    if (machine && !machine.hasActed(action, replay) && machine.refusal(action) === undefined)
      machine.act(action, by, replay);
  }

  /**
   * Temporal was asked to cancel the execution: that is for an only delivery, as soon as no attempt is in flight.
   *
   * @param now milliseconds since the epoch
   */
  cancelSole(now: number): void {
    this.now = now;
    if (this.sole?.refusal('cancel') === undefined) this.sole?.act('cancel', 'temporal');
  }

  /**
   * Notes attempts that the workflow has begun, for readers of its history: not all that made them due may stand there.
   */
  begin(attempts: readonly MemberAttempt[]): void {
    for (const { index, trigger, turn } of attempts) {
      const machine = this.members[index];
      if (machine && !machine.isAttempting) machine.begin(trigger, turn);
    }
  }

  /**
   * Takes in the reports of attempts that were made together. They count as having ended together, so that members with
   * the same schedule are due together again.
   *
   * @param now used if the reports do not say when that was: milliseconds since the epoch
   * @returns the attempts that could not be made, which are in flight still
   */
  settle(
    attempts: readonly MemberAttempt[],
    reports: readonly (AttemptReport | null | undefined)[],
    now: number,
  ): MemberAttempt[] {
    const ends = reports.flatMap((report) => report?.ended_at ?? []);
    this.now = ends.length > 0 ? Math.max(...ends) : now;
    return attempts.filter((attempt, position) => {
      const machine = this.members[attempt.index];
      const report = reports[position];
      if (!machine) return false;
      if (report) machine.settle(report, attempt.lost_tries);
      return !report;
    });
  }

  /** Whether a delivery waits because the endpoint asked for it, so that a release of it depends on the time. */
  isAskedToWait(endpointId: string): boolean {
    return this.members.some(
      ({ record }, index) => record.asked_to_wait && this.group.deliveries[index]?.endpoint_id === endpointId,
    );
  }

  /**
   * The endpoint takes deliveries again, or is gone: the members that are parked for it are due, and those that wait
   * for a retry.
   *
   * @param now milliseconds since the epoch
   * @returns the indexes of those that are due because of it
   */
  release({ endpoint_id, limit, delivery, most, probe = false }: Release, now: number): number[] {
    this.now = now;
    const ofEndpoint = this.members.filter((_, index) =>
      delivery === undefined
        ? this.group.deliveries[index]?.endpoint_id === endpoint_id
        : this.find(delivery) === index,
    );
    // Where it is for all, or for the only one, it is also for one that an attempt in flight parks.
    if (!probe && (limit === undefined || this.sole))
      for (const machine of ofEndpoint) if (machine.isAttempting) machine.endpointChanged();
    const released: DeliveryMachine[] = [];
    for (const status of ['parked', 'retrying'] as const) {
      for (const machine of ofEndpoint) {
        if (limit !== undefined && released.length >= limit) break;
        if (machine.record.status !== status || machine.isAttempting) continue;
        if (probe ? machine.probe() : machine.release(most)) released.push(machine);
      }
    }
    return released.map((machine) => this.members.indexOf(machine));
  }

  /**
   * Next step. The attempts that it asks for are in flight from then on.
   *
   * @param now milliseconds since the epoch
   */
  step(now: number): GroupStep {
    this.now = now;
    const due: MemberAttempt[] = [];
    let wakeAt: number | undefined;
    let because = '';
    for (const [index, machine] of this.members.entries()) {
      if (machine.isAttempting) continue;
      const next = machine.step();
      if (next.kind === 'attempt') {
        due.push({ index, number: machine.nextNumber, ...machine.attempting, trigger: next.trigger });
      } else if (next.kind === 'wait') {
        const until = machine.isDeferred && !this.sole ? next.until + DEFERRED_TOGETHER_MS : next.until;
        if (wakeAt !== undefined && wakeAt <= until) continue;
        wakeAt = until;
        because = next.because;
      }
    }
    return { due, because, ...(wakeAt !== undefined && { wakeAt }) };
  }
}

/** A group of which every delivery is held back: nothing is to be done before its first wait is over. */
export interface WaitingGroup {
  /** How its deliveries stand until then. */
  states: MemberState[];
  /** Milliseconds. */
  waitMs: number;
}

/**
 * @param now milliseconds since the epoch; its execution, which waits for the same time, has Temporal's
 * @returns `undefined` if an attempt is to be made at once
 */
export function waitFromStart(group: LiveGroup, now: number): WaitingGroup | undefined {
  const machine = new GroupMachine(group, now);
  if (machine.firstAttempts.length > 0) return undefined;
  const { due, wakeAt } = machine.step(now);
  if (due.length > 0 || wakeAt === undefined) return undefined;
  return { states: summarizeMembers(machine.records, true), waitMs: wakeAt - now };
}

/**
 * Turns come one after another. The group waits for some of them to come, and makes these attempts together; less than
 * the time for which a turn is valid. Milliseconds.
 */
const DEFERRED_TOGETHER_MS = 500;

/**
 * Attempts that are waited for together: all of them, but for those at endpoints that were slow last time, each of
 * which would hold up the others. These go by endpoint.
 */
export function batches(
  machine: GroupMachine,
  group: LiveGroup,
  due: readonly MemberAttempt[],
): MemberAttempt[][] {
  const parts = groupedBy(due, ({ index }) => {
    const last = machine.member(index)?.record.attempts.at(-1);
    // An endpoint is slow that needs half of the time it has: less may be the doing of a busy service.
    const isSlow = (last?.duration_ms ?? 0) > group.attempt_timeout_ms / 2;
    return isSlow ? (group.deliveries[index]?.endpoint_id ?? '') : '';
  });
  return [...parts.values()];
}
