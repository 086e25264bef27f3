import type { Timings } from '../timings.js';
import type { AttemptReport } from './attempt-report.js';
import {
  type DeliveryGroup,
  type DeliveryRecord,
  type DeliverySettings,
  isClosed,
  type Trigger,
} from './delivery.js';
import { DeliveryMachine } from './delivery-machine.js';
import type { DeliverySnapshot } from './delivery-state.js';
import { type MemberState, summarizeMembers } from './group-summary.js';
import type { HeldBack } from './hold-back.js';
import { groupJitter } from './retry-schedule.js';

/** Deliveries that are made together, each by its own schedule. A Temporal payload: what a group's workflow starts with. */
export interface LiveGroup extends DeliveryGroup, DeliverySettings {
  /** Of an isolated group: endpoints that were known to be failing when it was accepted. First attempts at them wait. By endpoint. */
  held?: Record<string, HeldBack>;
  /** If it began to wait before its execution began: since when. ISO 8601, UTC. */
  held_since?: string;
  /** First attempts, too, are made in the isolated lane: the endpoints are slow or failing. */
  isolated?: boolean;
  /** An endpoint that took longer than this last time is attempted apart from others, milliseconds; absent in older groups: 1,000. */
  slow_ms?: number;
  timings?: Timings;
  /** If the group goes on from an earlier run: its members then, `null` for those that had left it. */
  so_far?: (DeliverySnapshot | null)[];
}

/** An attempt at one delivery of a group. A Temporal payload. */
export interface MemberAttempt {
  /** The member's index in the group. */
  index: number;
  number: number;
  trigger: Trigger;
  /** Its turn under the endpoint's rate limit, for which it has waited. ISO 8601, UTC. */
  turn?: string;
}

/** Attempts at released deliveries of a group. A Temporal payload: a report for each of them, in their order, `null` for one that could not be made. */
export interface ReleasedAttempts {
  attempts: readonly MemberAttempt[];
  reports: (AttemptReport | null)[];
}

/** What comes next in a group: attempts that are due now, and a wait for the others. */
export interface GroupStep {
  due: MemberAttempt[];
  /** When the next member is due, milliseconds since the epoch; absent if none waits. */
  wakeAt?: number;
  /** What that member waits for. */
  because: string;
}

/**
 * The deliveries of a group, side by side. All that changes them are reports of attempts, releases and departures, so that whoever
 * reads the group's history gets the same records as its workflow. Times come from the reports for the same reason.
 */
export class GroupMachine {
  private readonly group: LiveGroup;
  /** By index; `undefined` for a delivery that has left the group. */
  private readonly members: (DeliveryMachine | undefined)[];
  private readonly seed: string;
  private now: number;

  /** @param now milliseconds since the epoch */
  constructor(group: LiveGroup, now: number) {
    this.group = group;
    this.now = group.held_since === undefined ? now : Date.parse(group.held_since);
    this.seed = `${group.events[0]?.event_id}:${group.deliveries[0]?.endpoint_id}`;
    const surroundings = {
      now: () => this.now,
      random: (attempt: number) => groupJitter(this.seed, attempt),
      changed: () => {},
    };
    this.members = group.deliveries.map(({ endpoint_id, schedule = group.schedule }, index) => {
      const settings = { ...group, schedule };
      if (group.so_far) {
        const snapshot = group.so_far[index];
        return snapshot ? DeliveryMachine.from(settings, surroundings, snapshot) : undefined;
      }
      const machine = new DeliveryMachine(settings, surroundings);
      const held = group.held?.[endpoint_id];
      if (held) machine.settle(held);
      return machine;
    });
  }

  /**
   * The end of the latest attempts, by their reports. It stands for the time right after a local activity: one that waited for a slot ends
   * later by the clock of the first execution than by that of a replay.
   */
  get settledAt(): number {
    return this.now;
  }

  /** Whether something is still to happen to a delivery of the group. */
  get isOpen(): boolean {
    return this.members.some((machine) => machine && !isClosed(machine.record.status));
  }

  /** The attempts that are in flight from the beginning. */
  get firstAttempts(): MemberAttempt[] {
    return this.members.flatMap((machine, index) =>
      machine?.isAttempting ? [{ index, number: machine.nextNumber, trigger: 'schedule' as const }] : [],
    );
  }

  /** The records of all deliveries in the group's order, `null` for those that have left it. */
  get records(): (DeliveryRecord | null)[] {
    return this.members.map((machine) => machine?.record ?? null);
  }

  /** The deliveries as another run can carry on with them. */
  get snapshots(): (DeliverySnapshot | null)[] {
    return this.members.map((machine) => machine?.snapshot ?? null);
  }

  /** Indexes of the deliveries that have left the group. */
  get departed(): number[] {
    return this.members.flatMap((machine, index) => (machine ? [] : [index]));
  }

  /** The index of a delivery that is still in the group; -1 if there is none. */
  find(eventId: string, endpointId: string): number {
    return this.places(eventId, endpointId).find((index) => this.members[index]) ?? -1;
  }

  /** Whether the group began with a delivery, which may have left it. */
  has(eventId: string, endpointId: string): boolean {
    return this.places(eventId, endpointId).length > 0;
  }

  private places(eventId: string, endpointId: string): number[] {
    const { deliveries, events } = this.group;
    return deliveries.flatMap(({ event, endpoint_id }, index) =>
      endpoint_id === endpointId && events[event]?.event_id === eventId ? [index] : [],
    );
  }

  member(index: number): DeliveryMachine | undefined {
    return this.members[index];
  }

  /** Notes attempts that the workflow has begun, for whoever reads its history: not all that made them due may stand there. */
  begin(attempts: readonly MemberAttempt[]): void {
    for (const { index, trigger, turn } of attempts) {
      const machine = this.members[index];
      if (machine && !machine.isAttempting) machine.begin(trigger, turn);
    }
  }

  /**
   * Takes in the reports of attempts that were made together. They count as having ended together, at the end of the last one, so that
   * members with the same schedule are due together again.
   *
   * @param now used if no attempt was made: milliseconds since the epoch
   * @returns the attempts that could not be made, which are in flight still
   */
  settle(
    attempts: readonly MemberAttempt[],
    reports: readonly (AttemptReport | null | undefined)[],
    now: number,
  ): MemberAttempt[] {
    const ends = reports.flatMap((report) =>
      report?.kind === 'attempted' ? [Date.parse(report.attempt.at) + report.attempt.duration_ms] : [],
    );
    this.now = ends.length > 0 ? Math.max(...ends) : now;
    return attempts.filter((attempt, position) => {
      const machine = this.members[attempt.index];
      const report = reports[position];
      if (!machine) return false;
      if (report) machine.settle(report);
      return !report;
    });
  }

  /**
   * The endpoint takes deliveries again, or is gone: the members that are parked for it are due, and those that wait for a retry.
   *
   * @param limit no more than this many, the parked ones and the oldest first; absent for all, also those that an attempt in flight parks
   * @param most see {@link DeliveryMachine.release}
   * @param isProbe they are attempted to see whether the endpoint answers: see {@link DeliveryMachine.probe}
   */
  release(endpointId: string, limit?: number, most?: number, isProbe = false): void {
    const ofEndpoint = this.members.filter(
      (machine, index) => machine && this.group.deliveries[index]?.endpoint_id === endpointId,
    );
    if (limit === undefined && !isProbe)
      for (const machine of ofEndpoint) if (machine?.isAttempting) machine.endpointChanged();
    let released = 0;
    for (const status of ['parked', 'retrying'] as const) {
      for (const machine of ofEndpoint) {
        if (limit !== undefined && released >= limit) return;
        if (machine?.record.status !== status || machine.isAttempting) continue;
        if (isProbe ? machine.probe() : machine.release(most)) released += 1;
      }
    }
  }

  /** What comes next. The attempts that it asks for are in flight from then on. @param now milliseconds since the epoch */
  step(now: number): GroupStep {
    this.now = now;
    const due: MemberAttempt[] = [];
    let wakeAt: number | undefined;
    let because = '';
    for (const [index, machine] of this.members.entries()) {
      if (!machine || machine.isAttempting) continue;
      const next = machine.step();
      if (next.kind === 'attempt') {
        const { nextNumber: number, turn } = machine;
        due.push({ index, number, trigger: next.trigger, ...(turn !== undefined && { turn }) });
      } else if (next.kind === 'wait') {
        const until = machine.isDeferred ? next.until + DEFERRED_TOGETHER_MS : next.until;
        if (wakeAt !== undefined && wakeAt <= until) continue;
        wakeAt = until;
        because = next.because;
      }
    }
    return { due, because, ...(wakeAt !== undefined && { wakeAt }) };
  }

  /** Takes a delivery out of the group, for another execution to carry on with. */
  depart(index: number): DeliverySnapshot | undefined {
    const snapshot = this.members[index]?.snapshot;
    this.members[index] = undefined;
    return snapshot;
  }
}

/** A group of which every delivery is held back: nothing is to be done before its first wait is over. */
export interface WaitingGroup {
  /** What its workflow starts with, whenever that begins. */
  group: LiveGroup;
  /** How its deliveries stand until then. */
  states: MemberState[];
  /** Milliseconds. */
  waitMs: number;
}

/**
 * @param now milliseconds since the epoch
 * @returns `undefined` if an attempt is to be made at once
 */
export function waitFromStart(group: LiveGroup, now: number): WaitingGroup | undefined {
  const waiting = { ...group, held_since: new Date(now).toISOString() };
  const machine = new GroupMachine(waiting, now);
  if (machine.firstAttempts.length > 0) return undefined;
  const { due, wakeAt } = machine.step(now);
  if (due.length > 0 || wakeAt === undefined) return undefined;
  return { group: waiting, states: summarizeMembers(machine.records, true), waitMs: wakeAt - now };
}

/**
 * Turns come one after another. The group waits for some of them to come, and makes these attempts together; less than the time for which
 * a turn is valid. Milliseconds.
 */
const DEFERRED_TOGETHER_MS = 500;

const FORMER_SLOW_MS = 1_000;

/** An endpoint is slow that needs half of the time it has, milliseconds: less may be the doing of a busy service. */
export function slowMs({ attempt_timeout_ms }: Pick<DeliverySettings, 'attempt_timeout_ms'>): number {
  return attempt_timeout_ms / 2;
}

/**
 * Attempts that are waited for together: all of them, but for those at endpoints that were slow last time, each of which would hold up
 * the others. These go by endpoint.
 */
export function batches(
  machine: GroupMachine,
  group: LiveGroup,
  due: readonly MemberAttempt[],
): MemberAttempt[][] {
  const parts = new Map<string, MemberAttempt[]>();
  for (const attempt of due) {
    const last = machine.member(attempt.index)?.record.attempts.at(-1);
    const isSlow = (last?.duration_ms ?? 0) > (group.slow_ms ?? FORMER_SLOW_MS);
    const key = isSlow ? (group.deliveries[attempt.index]?.endpoint_id ?? '') : '';
    parts.set(key, [...(parts.get(key) ?? []), attempt]);
  }
  return [...parts.values()];
}
