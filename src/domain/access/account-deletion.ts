import type { NamedOrigin } from '../change/change.js';

/** Stage of a deletion: ending access, removing endpoints, ending open deliveries, erasing payloads, or done. */
export const DELETION_STAGES = ['access', 'endpoints', 'deliveries', 'payloads', 'done'] as const;

/** Rule for the payloads of the account's events: they are kept with its record, or their data keys are deleted. */
export const PAYLOAD_RULES = ['keep', 'erase'] as const;

export type PayloadRule = (typeof PAYLOAD_RULES)[number];

/** How far the deletion of an account is. */
export interface AccountDeletion {
  stage: (typeof DELETION_STAGES)[number];
  /** API keys, OAuth clients, logins and portal sessions. */
  credentials_ended: number;
  endpoints_deleted: number;
  /**
   * Deliveries that were open, about: one that was paused is released, which has no effect, and then cancelled, and
   * counts twice.
   */
  deliveries_ended: number;
  /**
   * Data keys that were deleted, about: a search that a crash interrupted is not counted. Absent if payloads are kept.
   */
  keys_erased?: number;
}

/** A deletion that has done nothing yet. */
export function newDeletion({ payloads }: Pick<DeletionRequest, 'payloads'>): AccountDeletion {
  const ended = { credentials_ended: 0, endpoints_deleted: 0, deliveries_ended: 0 };
  return { stage: 'access', ...ended, ...(payloads === 'erase' && { keys_erased: 0 }) };
}

/** Request for a deletion, with who asked for it. It is recorded with everything that ends. */
export interface DeletionRequest {
  account_id: string;
  origin: NamedOrigin;
  /** Absent: they are kept. */
  payloads?: PayloadRule;
}

/** A deletion as a line for people. */
export function describeDeletion(deletion: AccountDeletion): string {
  const { stage, credentials_ended, endpoints_deleted, deliveries_ended, keys_erased } = deletion;
  const erased = keys_erased === undefined ? '' : `; ${keys_erased} keys of payloads erased`;
  return `Delete the account, ${stage}: ${credentials_ended} credentials, ${endpoints_deleted} endpoints, ${deliveries_ended} open deliveries ended${erased}.`;
}

/** A page of deliveries that were open. */
export interface EndedDeliveries {
  found: number;
  /** Those that have ended; the others had an attempt under way, or were closed meanwhile. */
  ended: number;
  /** Where the next page begins; absent on the last one. */
  next?: unknown;
}

/** Steps of the deletion of an account. Everything can be repeated. */
export interface AccountRemoval {
  /** Closes the account, and ends its credentials and replays. @returns how many credentials have ended */
  endAccess(request: DeletionRequest): Promise<number>;
  /** Removes some endpoints. @returns their ids; none if there is none left */
  removeEndpoints(request: DeletionRequest): Promise<string[]>;
  /** Cancels open deliveries. @param cursor `next` of an earlier page; absent for the first one */
  endOpenDeliveries(request: DeletionRequest, cursor: unknown): Promise<EndedDeliveries>;
  /** Deletes the data keys of all payloads. @returns how many there were */
  erasePayloads(request: DeletionRequest): Promise<number>;
  /** Ends what watches the endpoints, and marks the account as deleted. */
  finish(request: DeletionRequest, deletion: AccountDeletion): Promise<void>;
}
