import { DELIVERY_STATUSES, type DeliveryRecord, type DeliveryStatus } from './delivery.js';

/** What lists show of deliveries of a group that stand alike. */
export interface MemberState {
  status: DeliveryStatus;
  next_attempt_at?: string;
  reason?: string;
  /** Their indexes. */
  members: number[];
}

/** A summary is no longer than this, in JSON. The rest of a group's memo takes up to a KiB, and Temporal warns from 2 KiB on. */
export const MAX_SUMMARY_CHARACTERS = 900;

/**
 * How the deliveries of a group stand, short enough for its memo: those that stand alike once. If it is too long, the reasons are left
 * out, and then the times; one delivery's reason and time are always in its record.
 *
 * Left out is also what the execution's own status says: of an open group what is `delivering`, of a closed one what was `delivered`.
 */
export function summarizeMembers(
  records: readonly (DeliveryRecord | null)[],
  isOpen: boolean,
): MemberState[] {
  const told: DeliveryStatus = isOpen ? 'delivering' : 'delivered';
  const summaries = ([3, 2, 1] as const).map((detail) => {
    const states = new Map<string, MemberState>();
    for (const [index, record] of records.entries()) {
      if (!record || (record.status === told && !record.next_attempt_at)) continue;
      const { status, next_attempt_at, reason } = record;
      const state = {
        status,
        ...(detail > 1 && next_attempt_at !== undefined && { next_attempt_at }),
        ...(detail > 2 && reason !== undefined && { reason }),
      };
      const key = JSON.stringify(state);
      const members = [...(states.get(key)?.members ?? []), index];
      states.set(key, { ...state, members });
    }
    return [...states.values()];
  });
  return (
    summaries.find((states) => JSON.stringify(states).length <= MAX_SUMMARY_CHARACTERS) ?? summaries[2] ?? []
  );
}

/** The statuses that a group's deliveries have, as {@link summarizeMembers} says; in the order of {@link DELIVERY_STATUSES}. */
export function statusesOf(states: readonly MemberState[]): DeliveryStatus[] {
  return DELIVERY_STATUSES.filter((status) => states.some((state) => state.status === status));
}

/** A line for each state: how many deliveries it has, and what comes next. */
export function describeStates(states: readonly MemberState[]): string {
  return states
    .map(({ status, members, reason }) => `${members.length} ${status}${reason ? `: ${reason}` : ''}`)
    .join('\n\n');
}
