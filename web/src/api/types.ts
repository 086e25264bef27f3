import type { Schemas } from '../../../clients/typescript/src/index.js';

export type { Schemas };

export type Delivery = Schemas['Delivery'];
export type DeliverySummary = Schemas['DeliverySummary'];
export type ListedDelivery = Schemas['ListedDelivery'];
export type DeliveryStatus = DeliverySummary['status'];
export type Attempt = Schemas['Attempt'];
export type TimelineItem = Schemas['TimelineItem'];
/** Rows over all accounts have the account in place of its id. */
export type Endpoint = Omit<Schemas['EndpointWithIncident'], 'account_id'>;
/** A request that a test inbox has received. */
export type ReceivedRequest = Schemas['ReceivedRequest'];
export type EndpointStatus = Endpoint['status'];
export type EndpointWithSecret = Schemas['EndpointWithSecret'];
export type EventKind = Schemas['EventKind'];
export type Replay = Schemas['Replay'];
export type ReplayPreview = Schemas['ReplayPreview'];
export type Stats = Schemas['Stats'];
export type Change = Schemas['Change'];
export type Erasure = Schemas['Erasure'];
export type FeedConsumer = Schemas['FeedConsumer'];
export type Account = Schemas['Account'];
export type ApiKey = Schemas['ApiKey'];
export type InstallationDelivery = Schemas['InstallationDelivery'];
export type InstallationEndpoint = Schemas['InstallationEndpoint'];
export type InstallationChange = Schemas['InstallationChange'];
export type InstallationStats = Schemas['InstallationStats'];
export type Found = Schemas['Found'];
/** Account of a row in an operator's list. */
export type AccountOfRow = Found['account'];
/** Holder of a token. */
export type Holder = Schemas['Session'];

/** A page of a list. */
export interface Page<T> {
  data: T[];
  paging: { cursors: { after?: string | undefined }; next?: string | undefined };
}

export const DELIVERY_STATUSES = [
  'delivering',
  'retrying',
  'parked',
  'delivered',
  'exhausted',
  'expired',
  'cancelled',
  'terminated',
] as const satisfies readonly DeliveryStatus[];

/** Whether a delivery is still on its way. */
export function isOpen(status: DeliveryStatus): boolean {
  return status === 'delivering' || status === 'retrying' || status === 'parked';
}
