import { setTimeout as delay } from 'node:timers/promises';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { endpointChanged, releaseMembers } from '../../../workflows/messages.js';
import type { EndpointKey } from '../../domain/delivery/delivery.js';
import { ACCOUNT_ATTRIBUTE, ENDPOINT_ATTRIBUTE } from '../../domain/ledger/search-attributes.js';
import { createdAt, deliveriesOf, statusClauses } from '../read/delivery-view.js';
import { anyOf, equals, toQuery } from '../read/query.js';

/** How many parked deliveries are woken, and how fast. */
export interface WakeOptions {
  /** No more than this; absent for all. */
  limit?: number;
  /** No faster than this each second; absent for as fast as it goes. */
  per_second?: number;
}

/** Of a group, no more are woken at once than come in this time at the rate that is asked for. Milliseconds. */
const SLICE_MS = 100;

/** An execution with deliveries that wait for an endpoint. */
interface Waiting {
  workflowId: string;
  createdAt: string;
  /** How many, if it is a group. */
  members?: number;
}

/**
 * Wakes the parked deliveries of an endpoint, oldest first; of groups also those that wait for a retry.
 *
 * @param onProgress called after each signal
 */
export async function wakeParkedDeliveries(
  client: Client,
  endpoint: EndpointKey,
  { limit = Number.POSITIVE_INFINITY, per_second = Number.POSITIVE_INFINITY }: WakeOptions,
  onProgress: () => void,
): Promise<void> {
  const slice = Math.max(1, Math.round((per_second * SLICE_MS) / 1_000));
  let left = limit;
  for (const { workflowId, members } of await findWaiting(client, endpoint, onProgress)) {
    if (left <= 0) return;
    const handle = client.workflow.getHandle(workflowId);
    const wanted = Math.min(members ?? 1, left);
    for (let woken = 0; woken < wanted; ) {
      const next = Math.min(slice, wanted - woken);
      // The last slice is for all, if all are wanted: some may have come to wait meanwhile.
      const isRest = woken + next === members && limit === Number.POSITIVE_INFINITY;
      const release = { endpoint_id: endpoint.endpoint_id, ...(!isRest && { limit: next }) };
      try {
        if (members === undefined) await handle.signal(endpointChanged);
        else await handle.signal(releaseMembers, release);
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
      onProgress();
      woken += next;
      if (Number.isFinite(per_second)) await delay((1_000 * next) / per_second);
    }
    left -= wanted;
  }
}

/** The executions with deliveries that wait for an endpoint, oldest first. */
async function findWaiting(
  client: Client,
  { account_id, endpoint_id }: EndpointKey,
  onProgress: () => void,
): Promise<Waiting[]> {
  const query = toQuery([
    equals(ACCOUNT_ATTRIBUTE.name, account_id),
    equals(ENDPOINT_ATTRIBUTE.name, endpoint_id),
    anyOf(
      [equals('WorkflowType', 'deliverEvent'), ...statusClauses('parked')],
      [equals('WorkflowType', 'deliverTogether'), ...statusClauses('parked')],
      [equals('WorkflowType', 'deliverTogether'), ...statusClauses('retrying')],
    ),
  ]);
  // SQL visibility cannot sort, so all are collected first.
  const waiting: Waiting[] = [];
  for await (const execution of client.workflow.list({ query })) {
    const { workflowId, type } = execution;
    const members = deliveriesOf(execution, account_id).filter(
      ({ summary: { endpoint_id: of, status } }) =>
        of === endpoint_id && (status === 'parked' || status === 'retrying'),
    ).length;
    const isGroup = type === 'deliverTogether';
    if (members > 0 || !isGroup)
      waiting.push({ workflowId, createdAt: createdAt(execution), ...(isGroup && { members }) });
    onProgress();
  }
  return waiting.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
}
