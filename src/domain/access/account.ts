import type { PortalLook } from '../look/portal-look.js';
import type { AccountDeletion } from './account-deletion.js';

/** Status of an account: `deleting` while its deletion is under way, `deleted` when only its record is left. */
export const ACCOUNT_STATUSES = ['active', 'deleting', 'deleted'] as const;
export type AccountStatus = (typeof ACCOUNT_STATUSES)[number];

/** An account's own limits, each in place of the installation's. */
export interface AccountLimits {
  /** Limit of each token, except for events. */
  requests_per_minute?: number;
  /** Limit of all tokens together. */
  events_per_minute?: number;
  max_endpoints?: number;
}

/** The highest value of each limit. */
export const MOST_OF_LIMITS = {
  requests_per_minute: 1_000_000,
  events_per_minute: 10_000_000,
  max_endpoints: 100_000,
} as const satisfies Required<AccountLimits>;

/** A tenant. Everything belongs to one account, and no account sees what belongs to another. */
export interface Account {
  id: string;
  name: string;
  /** The platform that it belongs to; absent if it belongs to none. */
  platform_id?: string;
  /** The platform's own name for it, such as a customer number; unique within the platform. */
  reference?: string;
  limits: AccountLimits;
  /** How its portal looks, each in place of the installation's; absent if as that. */
  portal?: PortalLook;
  status: AccountStatus;
  created_at: string;
  /** When its deletion was asked for. */
  deletion_requested_at?: string;
  /** When it was asked for that its payloads are erased with it. */
  erasure_requested_at?: string;
  deleted_at?: string;
  /** How far its deletion is. */
  deletion?: AccountDeletion;
  /** 1 when it is made, and one more with each change. */
  version: number;
}

/** A reference: what can stand in a header and in a query as it is, and is not an id. */
export const REFERENCE = /^(?!acct_)[\w.:@-]{1,128}$/;
