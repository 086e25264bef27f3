import type { DeliveryTarget } from '../../../domain/delivery/delivery.js';
import type { Subscription } from '../../../domain/delivery/recipients.js';
import type { RowSearch } from '../../../domain/records/row-search.js';
import type { RecordReads } from '../../../domain/records/stored.js';
import type { Registration, ReplayItem, SelectingPlan } from '../../../domain/replay/replay.js';

/** Where a page of what a replay acts on begins. */
export interface ReplayCursor {
  /** The id of an event: from it on. */
  event_id: string;
  /** Only its deliveries behind this one. */
  after?: string;
}

/** Something that a replay acts on, or would. */
export interface ReplayTarget {
  item: ReplayItem;
  /** For a new delivery, whether each compared registration selects the event. */
  selected_by?: boolean[];
  /** The endpoint was deleted: nothing can be sent to it. */
  is_gone?: true;
}

/** Part of a search that is read together. */
export interface ReplayPart {
  found: ReplayTarget[];
  /** Where the next part begins; absent on the last one. */
  next?: ReplayCursor;
}

/** A page of what a replay acts on. */
export interface ReplayPage extends ReplayPart {
  /** Up to when events have been looked through. ISO 8601, UTC. */
  up_to: string;
}

/** Registrations of an endpoint, present and past: stored elsewhere than deliveries. */
export interface RegistrationReader {
  /** As it is; `undefined` if the account has no such endpoint. */
  now(
    accountId: string,
    endpointId: string,
  ): Promise<{ target: DeliveryTarget; subscription: Subscription } | undefined>;
  /** As it was at a time; `undefined` if it did not exist then, or that is not kept. */
  at(accountId: string, endpointId: string, time: Date): Promise<Subscription | undefined>;
}

/** Sources of what replays act on. */
export interface ReplaySources {
  records: RecordReads & { search: RowSearch };
  registrations: RegistrationReader;
}

/** Request for one part of a search. */
export interface PartRequest extends ReplaySources {
  plan: SelectingPlan;
  /** Registrations whose selections are compared. */
  compared: readonly Registration[];
  from: ReplayCursor;
  /** The id before which events end. */
  until: string;
  /** The most that is read. */
  limit: number;
}
