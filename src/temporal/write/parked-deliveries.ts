import { setTimeout as delay } from 'node:timers/promises';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { endpointChanged } from '../../../workflows/messages.js';
import type { EndpointKey } from '../../domain/delivery/delivery.js';
import { ACCOUNT_ATTRIBUTE, ENDPOINT_ATTRIBUTE } from '../../domain/ledger/search-attributes.js';
import { statusClauses } from '../read/delivery-view.js';
import { equals, toQuery } from '../read/query.js';

/** How many of them, and how fast. */
export interface WakeOptions {
  /** No more than so many; absent for all. */
  limit?: number;
  /** No faster than so many each second; absent for as fast as it goes. */
  per_second?: number;
}

/**
 * Wakes the parked deliveries of an endpoint, oldest first.
 *
 * @param onProgress called after each one
 */
export async function wakeParkedDeliveries(
  client: Client,
  { account_id, endpoint_id }: EndpointKey,
  { limit, per_second }: WakeOptions,
  onProgress: () => void,
): Promise<void> {
  const clauses = [
    equals('WorkflowType', 'deliverEvent'),
    equals(ACCOUNT_ATTRIBUTE.name, account_id),
    equals(ENDPOINT_ATTRIBUTE.name, endpoint_id),
    ...statusClauses('parked'),
  ];
  // SQL visibility cannot sort, so the ids are collected first.
  const parked: { workflowId: string; startTime: Date }[] = [];
  for await (const { workflowId, startTime } of client.workflow.list({ query: toQuery(clauses) })) {
    parked.push({ workflowId, startTime });
    onProgress();
  }
  parked.sort((a, b) => a.startTime.getTime() - b.startTime.getTime());
  for (const { workflowId } of parked.slice(0, limit)) {
    try {
      await client.workflow.getHandle(workflowId).signal(endpointChanged);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
    onProgress();
    if (per_second !== undefined) await delay(1_000 / per_second);
  }
}
