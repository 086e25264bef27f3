import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';
import { DELIVERY_STATUSES, type DeliveryStatus, type NamedEvent } from '../delivery/delivery.js';

/**
 * Search attributes of every execution, for people in Temporal UI, and for what looks after endpoints. Keyword lists
 * where a group will have several values; SQL visibility stores allow three of those. They hold no personal data,
 * because they are not encrypted.
 */
const { KEYWORD_LIST, KEYWORD } = SearchAttributeType;
export const ACCOUNT_ATTRIBUTE = defineSearchAttributeKey('HooklineAccount', KEYWORD_LIST);
export const ENDPOINT_ATTRIBUTE = defineSearchAttributeKey('HooklineEndpoint', KEYWORD_LIST);
export const EVENT_ATTRIBUTE = defineSearchAttributeKey('HooklineEvent', KEYWORD_LIST);
export const KIND_ATTRIBUTE = defineSearchAttributeKey('HooklineEventKind', KEYWORD);
export const STATUS_ATTRIBUTE = defineSearchAttributeKey('HooklineStatus', KEYWORD);
export const SEARCH_ATTRIBUTES = [
  ACCOUNT_ATTRIBUTE,
  ENDPOINT_ATTRIBUTE,
  EVENT_ATTRIBUTE,
  KIND_ATTRIBUTE,
  STATUS_ATTRIBUTE,
] as const;

/** The value of {@link STATUS_ATTRIBUTE} on an execution that stands for several deliveries. */
const GROUP_STATUS = 'group';

/**
 * The value of {@link STATUS_ATTRIBUTE} on a group: which statuses its deliveries have, such as
 * `group:delivered+parked`; none are named of a group that the execution's own status tells all about.
 */
export function groupStatus(statuses: readonly DeliveryStatus[]): string {
  const named = DELIVERY_STATUSES.filter((status) => statuses.includes(status));
  return named.length === 0 ? GROUP_STATUS : `${GROUP_STATUS}:${named.join('+')}`;
}

/**
 * The value of {@link STATUS_ATTRIBUTE} on an execution of deliveries: the status of an only one, or
 * {@link groupStatus}.
 *
 * @param statuses of all its deliveries
 * @param named those that the execution's own status does not tell
 */
export function executionStatus(
  statuses: readonly DeliveryStatus[],
  named: readonly DeliveryStatus[],
): string {
  const [first] = statuses;
  return statuses.length === 1 && first ? first : groupStatus(named);
}

/** Attributes by which an execution that carries deliveries or events is found. */
export interface LedgerAttributes {
  accounts: string[];
  endpoints?: string[];
  events: string[];
  kind: string;
  status?: string;
}

/** The attributes that such an execution starts with. */
export function ledgerAttributes(of: LedgerAttributes): TypedSearchAttributes {
  return new TypedSearchAttributes([
    { key: ACCOUNT_ATTRIBUTE, value: of.accounts },
    ...(of.endpoints ? [{ key: ENDPOINT_ATTRIBUTE, value: of.endpoints }] : []),
    { key: EVENT_ATTRIBUTE, value: of.events },
    { key: KIND_ATTRIBUTE, value: of.kind },
    ...(of.status ? [{ key: STATUS_ATTRIBUTE, value: of.status }] : []),
  ]);
}

/** The attributes that the execution of one delivery starts with. */
export function deliveryAttributes(
  { account_id, event_id, event_kind }: Pick<NamedEvent, 'account_id' | 'event_id' | 'event_kind'>,
  endpointId: string,
): TypedSearchAttributes {
  return ledgerAttributes({
    accounts: [account_id],
    endpoints: [endpointId],
    events: [event_id],
    kind: event_kind,
    status: 'delivering',
  });
}

/** The attributes of an execution that looks after one endpoint. */
export function endpointAttributes(accountId: string, endpointId: string): TypedSearchAttributes {
  return new TypedSearchAttributes([
    { key: ACCOUNT_ATTRIBUTE, value: [accountId] },
    { key: ENDPOINT_ATTRIBUTE, value: [endpointId] },
  ]);
}
