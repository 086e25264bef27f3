import { reasonOf } from '../attempt/cause.js';
import { present } from '../basics/objects.js';
import { DELIVERY_STATUSES, type DeliveryRecord, type DeliveryStatus, isPaused } from './delivery.js';

/** State that Temporal UI shows of deliveries that stand alike. */
export interface MemberState
  extends Pick<DeliveryRecord, 'status' | 'next_attempt_at' | 'asked_to_wait' | 'cause'> {
  /** Somebody paused them. */
  paused?: true;
  /** How many attempts have been made, if it is the only delivery of its execution. */
  attempts?: number;
  /** Their indexes. */
  members: number[];
}

/**
 * A summary of several deliveries is no longer than this, in JSON: a person reads it in Temporal UI.
 */
export const MAX_SUMMARY_CHARACTERS = 900;

/** Details that a summary leaves out besides, from one try to the next: nothing, the causes, and then the times. */
const DETAILS = ['all', 'times', 'statuses'] as const;

/**
 * How the deliveries of an execution stand, short enough to be read: those that stand alike once. If it is too long,
 * the causes are left out, and then the times; one delivery's cause and time are always in its record.
 *
 * Left out is also what the execution's own status says: of an open one what is `delivering`, of a closed one what was
 * `delivered`.
 */
export function summarizeMembers(records: readonly DeliveryRecord[], isOpen: boolean): MemberState[] {
  const [sole] = records.length === 1 ? records : [];
  const told: DeliveryStatus = isOpen ? 'delivering' : 'delivered';
  const summaries = DETAILS.map((detail) => {
    const states = new Map<string, MemberState>();
    for (const [index, record] of records.entries()) {
      if (record.status === told && !record.next_attempt_at) continue;
      const { status, next_attempt_at, asked_to_wait, cause } = record;
      const state: Omit<MemberState, 'members'> = present({
        status,
        next_attempt_at: detail === 'statuses' ? undefined : next_attempt_at,
        ...(detail === 'all' && { asked_to_wait, cause }),
        paused: isPaused(record) ? true : undefined,
        attempts: sole?.attempts.length,
      });
      const key = JSON.stringify(state);
      const members = [...(states.get(key)?.members ?? []), index];
      states.set(key, { ...state, members });
    }
    return [...states.values()];
  });
  const fits = (states: MemberState[]) => sole || JSON.stringify(states).length <= MAX_SUMMARY_CHARACTERS;
  return summaries.find(fits) ?? summaries.at(-1) ?? [];
}

/**
 * The statuses that a group's deliveries have, as {@link summarizeMembers} says; in the order of
 * {@link DELIVERY_STATUSES}.
 */
export function statusesOf(states: readonly MemberState[]): DeliveryStatus[] {
  return DELIVERY_STATUSES.filter((status) => states.some((state) => state.status === status));
}

/** A line for each state: how many deliveries it has, and what comes next. */
export function describeStates(states: readonly MemberState[]): string {
  return states
    .map((state) => {
      const reason = reasonOf(state);
      return `${state.members.length} ${state.status}${reason ? `: ${reason}` : ''}`;
    })
    .join('\n\n');
}
