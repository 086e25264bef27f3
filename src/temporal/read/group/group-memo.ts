import type { DeliveryKey } from '../../../domain/basics/delivery-id.js';
import type { AcceptedEvent } from '../../../domain/delivery/delivery.js';
import type { MemberState } from '../../../domain/delivery/group-summary.js';
import { isKeyToken } from '../../../domain/event/key-token.js';
import {
  ACCOUNT_ATTRIBUTE,
  ENDPOINT_ATTRIBUTE,
  EVENT_ATTRIBUTE,
} from '../../../domain/ledger/search-attributes.js';
import { isGroup, parseDeliveryWorkflowId } from '../../../domain/ledger/workflow-ids.js';
import type { Execution } from '../visibility/visibility.js';

/**
 * The memo of an execution of deliveries, so that they can be listed without reading its history. Of a group it refers
 * to the ids in the group's search attributes, which never change: a memo with the ids of 60 deliveries would exceed
 * the 2 KiB from which Temporal warns.
 */
export interface GroupMemo {
  /**
   * For each delivery the indexes of its account, event and endpoint in the sorted search attributes; in the group's
   * order. Absent if there is one, which the workflow id names.
   */
  members?: MemberIndexes[];
  /** Indexes of the deliveries that stand for their event in a list of events; absent if there is one. */
  heads?: number[];
  /** The number of the only event; absent if it has none, and if there are several. */
  sequence?: number;
  /**
   * For each event, in the order of the sorted search attribute, the index of its business key's token among the sorted
   * tokens there, or a list of such indexes; absent if no event has one.
   */
  keys?: (number | number[])[];
  /**
   * For each event, in the order of the sorted search attribute, its number less that of the account's event before it;
   * 0 for one without a number. Absent if none has one.
   */
  sequences?: number[];
  /** How the deliveries stand, unless the execution's own status says it. */
  states?: MemberState[];
}

type Listed = Pick<Execution, 'memo' | 'typedSearchAttributes' | 'workflowId'>;

type MemberIndexes = [account: number, event: number, endpoint: number];

/** A delivery of a group, and its account. */
export interface GroupMemberKey extends DeliveryKey {
  account_id: string;
}

/** A delivery of a group, with the tokens of its event's business keys, and the event's number. */
export type GroupMember = GroupMemberKey & Pick<AcceptedEvent, 'keys' | 'sequence'>;

/** The values of a group's search attributes, and the memo's indexes into them. */
export function indexMembers(members: readonly GroupMember[]): {
  attributes: { accounts: string[]; events: string[]; endpoints: string[] };
  memo: Pick<GroupMemo, 'keys' | 'sequences'> & Required<Pick<GroupMemo, 'members'>>;
} {
  const accounts = sortedDistinct(members.map(({ account_id }) => account_id));
  const events = sortedDistinct(members.map(({ event_id }) => event_id));
  const endpoints = sortedDistinct(members.map(({ endpoint_id }) => endpoint_id));
  const tokens = sortedDistinct(members.flatMap(({ keys = [] }) => keys));
  const memberOf = new Map(members.map((member) => [member.event_id, member]));
  return {
    attributes: { accounts: [...accounts, ...tokens], events, endpoints },
    memo: {
      members: members.map(({ account_id, event_id, endpoint_id }) => [
        accounts.indexOf(account_id),
        events.indexOf(event_id),
        endpoints.indexOf(endpoint_id),
      ]),
      ...(members.some(({ sequence }) => sequence !== undefined) && {
        sequences: differencesOf(events, memberOf),
      }),
      ...(tokens.length > 0 && {
        keys: events.map((event) => {
          const indexes = (memberOf.get(event)?.keys ?? []).map((token) => tokens.indexOf(token));
          const [only] = indexes;
          return indexes.length === 1 && only !== undefined ? only : indexes;
        }),
      }),
    },
  };
}

/** Numbers of events of one account that follow each other mostly differ by one, which is short. */
function differencesOf(events: readonly string[], memberOf: ReadonlyMap<string, GroupMember>): number[] {
  const last = new Map<string, number>();
  return events.map((event) => {
    const { account_id = '', sequence } = memberOf.get(event) ?? {};
    if (sequence === undefined) return 0;
    const difference = sequence - (last.get(account_id) ?? 0);
    last.set(account_id, sequence);
    return difference;
  });
}

/** The numbers of the events of an execution, by the events' ids; of those without a number, none. */
export function sequencesIn(execution: Listed): Map<string, number> {
  const { sequence, sequences } = (execution.memo ?? {}) as GroupMemo;
  const events = idsIn(execution, EVENT_ATTRIBUTE);
  if (sequence !== undefined && events[0] !== undefined) return new Map([[events[0], sequence]]);
  if (!sequences) return new Map();
  const accountOf = new Map(membersOf(execution).map((key) => [key?.event_id ?? '', key?.account_id ?? '']));
  const last = new Map<string, number>();
  const found = new Map<string, number>();
  for (const [index, event] of events.entries()) {
    const difference = sequences[index] ?? 0;
    if (difference === 0) continue;
    const account = accountOf.get(event) ?? '';
    const number = (last.get(account) ?? 0) + difference;
    last.set(account, number);
    found.set(event, number);
  }
  return found;
}

/** Which events an execution has with a business key; every event, if it stands for one event alone. */
export function hasKey(execution: Listed, token: string): (eventId: string) => boolean {
  const index = idsIn(execution, ACCOUNT_ATTRIBUTE).filter(isKeyToken).indexOf(token);
  if (index < 0) return () => false;
  const keys = execution.memo?.['keys'] as GroupMemo['keys'];
  const events = idsIn(execution, EVENT_ATTRIBUTE);
  if (!keys) return () => events.length === 1;
  const found = new Set(events.filter((_, event) => [keys[event]].flat().includes(index)));
  return (eventId) => found.has(eventId);
}

/** The deliveries of an execution, in its order; `undefined` for one that cannot be read. */
export function membersOf(execution: Listed): (GroupMemberKey | undefined)[] {
  if (!isGroup(execution.workflowId)) {
    const sole = parseDeliveryWorkflowId(execution.workflowId);
    return sole ? [sole] : [];
  }
  const members = (execution.memo?.['members'] ?? []) as MemberIndexes[];
  const accounts = idsIn(execution, ACCOUNT_ATTRIBUTE).filter((value) => !isKeyToken(value));
  const events = idsIn(execution, EVENT_ATTRIBUTE);
  const endpoints = idsIn(execution, ENDPOINT_ATTRIBUTE);
  return members.map(([account, event, endpoint]) => {
    const [account_id, event_id, endpoint_id] = [accounts[account], events[event], endpoints[endpoint]];
    return account_id && event_id && endpoint_id ? { account_id, event_id, endpoint_id } : undefined;
  });
}

function idsIn({ typedSearchAttributes }: Listed, key: typeof ACCOUNT_ATTRIBUTE): string[] {
  return sortedDistinct(typedSearchAttributes.get(key) ?? []);
}

function sortedDistinct(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}
