import type { DeliveryTarget } from '../../../domain/delivery/delivery.js';
import type { Subscription } from '../../../domain/delivery/recipients.js';
import { isGroup } from '../../../domain/ledger/workflow-ids.js';
import type { Registration, ReplayItem, ReplayPlan } from '../../../domain/replay/replay.js';
import type { LedgerSources } from '../locate.js';
import type { Located } from '../row-reader.js';
import type { Clause } from '../visibility/query.js';
import type { Execution } from '../visibility/visibility.js';

/** Where a page of what a replay acts on begins. */
export interface ReplayCursor {
  /** The window's first time of acceptance, milliseconds since the epoch. */
  from: number;
  /** The width to try, milliseconds. */
  width: number;
  /** Within the window: what sorts behind this key. */
  after?: string;
}

/** Something that a replay acts on, or would. */
export interface Found {
  item: ReplayItem;
  /** Of a new delivery: which of the compared registrations select the event. */
  selected_by?: boolean[];
  /** The endpoint was deleted: nothing can be sent to it. */
  is_gone?: true;
}

export interface ReplayPage {
  found: Found[];
  /** Absent on the last page. */
  next?: ReplayCursor;
  /** Up to when events have been looked through. ISO 8601, UTC. */
  up_to: string;
}

/** What an endpoint is and was registered for: kept elsewhere than in the ledger. */
export interface Registrations {
  /** As it is; `undefined` if the account has no such endpoint. */
  now(
    accountId: string,
    endpointId: string,
  ): Promise<{ target: DeliveryTarget; subscription: Subscription } | undefined>;
  /** As it was at a time; `undefined` if it did not exist then, or that is not kept. */
  at(accountId: string, endpointId: string, time: Date): Promise<Subscription | undefined>;
}

/** What is read of what replays act on, and with what. */
export interface ReplaySources extends Pick<LedgerSources, 'client' | 'sealer'> {
  registrations: Registrations;
}

/** Which part of a window is looked at. */
export interface PartRequest extends ReplaySources {
  plan: ReplayPlan;
  /** Registrations whose selections are compared. */
  compared: readonly Registration[];
  /** The key behind which the part begins; absent for the beginning of the window. */
  after: string | undefined;
  /** What is looked at, at most. */
  limit: number;
}

/** What a part of a window holds. */
export interface WindowPart {
  found: Found[];
  /** The key of the last one that was looked at; absent if nothing follows. */
  after?: string;
}

/** One way to select what a replay acts on. */
export interface Selection {
  /** What finds the executions; `undefined` if there can be none. */
  clauses(plan: ReplayPlan): Clause[] | undefined;
  /**
   * What executions of a window hold, in order, part by part: always the same, whatever the replay has done meanwhile.
   */
  part(executions: readonly Execution[], request: PartRequest): Promise<WindowPart>;
}

/** A delivery as what a replay acts on. */
export function itemOf({ execution: { workflowId, runId }, row }: Located): ReplayItem {
  const { event_id, endpoint_id } = row.summary;
  return { event_id, endpoint_id, run_id: runId, ...(isGroup(workflowId) && { workflow_id: workflowId }) };
}

/** The first of some things behind a key, in order, and the key of the last one if others follow. */
export function cutPart<T>(
  all: readonly T[],
  keyOf: (one: T) => string,
  { after = '', limit }: Pick<PartRequest, 'after' | 'limit'>,
): { part: T[]; after?: string } {
  const sorted = all
    .filter((one) => keyOf(one) > after)
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0));
  const part = sorted.slice(0, limit);
  const last = part.at(-1);
  return { part, ...(sorted.length > limit && last && { after: keyOf(last) }) };
}
