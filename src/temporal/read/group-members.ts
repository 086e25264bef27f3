import type { Client } from '@temporalio/client';
import { type DeliveryKey, deliveryId } from '../../domain/basics/delivery-id.js';
import { type GroupInput, groupOf } from '../../domain/delivery/group-input.js';
import { type Run, readInput } from './history.js';

/** The deliveries that an execution was started with. */
export async function readMembers(client: Client, run: Run): Promise<DeliveryKey[]> {
  const { events, deliveries } = groupOf((await readInput(client, run)) as GroupInput);
  return deliveries.map(({ event, endpoint_id }) => ({
    event_id: events[event]?.event_id ?? '',
    endpoint_id,
  }));
}

/** Their ids. */
export async function readMemberIds(client: Client, run: Run): Promise<Set<string>> {
  return new Set((await readMembers(client, run)).map(deliveryId));
}
