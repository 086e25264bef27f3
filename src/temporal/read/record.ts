import type { Client } from '@temporalio/client';
import { type DeliveryRecord, isClosed } from '../../domain/delivery/delivery.js';
import { type DeliveryRow, recordInMemo } from './delivery-view.js';
import { readGroup } from './group-history.js';
import { readClosingRecord } from './history.js';
import type { Execution } from './visibility.js';

/**
 * The whole record of a delivery: with which its execution closed; while that is open, from its memo, or of a group from its history.
 * `undefined` if nothing has gone wrong so far.
 */
export async function readRecord(
  client: Client,
  execution: Execution,
  { index, summary }: DeliveryRow,
): Promise<DeliveryRecord | undefined> {
  const isOpen = execution.status.name === 'RUNNING';
  const isLive = execution.type === 'deliverTogether';
  if (!isLive || execution.status.name === 'COMPLETED') {
    const closed = isOpen ? undefined : await readClosingRecord(client, execution, index);
    if (closed || !isLive) return closed ?? recordInMemo(execution);
  }
  const group = await readGroup(client, execution);
  const record = (group && index !== undefined && group.records[index]) || undefined;
  // The history of a terminated group does not say what that did to the delivery, nor when a parked one expired: the memo's status does.
  return record && isClosed(summary.status) && !isClosed(record.status)
    ? { ...record, status: summary.status, ...(summary.reason !== undefined && { reason: summary.reason }) }
    : record;
}

/** When a delivery ended that has no execution of its own: with its last attempt. ISO 8601, UTC. */
export function endOf({ status, attempts }: DeliveryRecord): string | undefined {
  const last = attempts.at(-1);
  return isClosed(status) && last
    ? new Date(Date.parse(last.at) + last.duration_ms).toISOString()
    : undefined;
}
