import type { Client } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import type { DeliveryRecord } from '../../../domain/delivery/delivery.js';
import { lastEventId } from '../history-events.js';
import { readGroup } from './group-history.js';

type Records = (DeliveryRecord | null)[];

interface Read {
  /** The last event of the history when it was read. */
  upTo: string;
  records: Records;
}

/** Attempts in the records that are remembered, about 1 KiB each. */
const MAX_ATTEMPTS = 20_000;

const remembered = new WeakMap<Client, LRUCache<string, Read>>();

/**
 * The records of a group's deliveries, as its history has them; `null` for those that have left it. They are remembered as long as the
 * history does not grow: most groups only wait, and the last event says so without the others.
 */
export async function readGroupRecords(
  client: Client,
  execution: { workflowId: string; runId: string },
): Promise<Records> {
  const cache = cacheOf(client);
  const upTo = await lastEventId(client, execution);
  const known = cache.get(execution.runId);
  if (known && known.upTo === upTo) return known.records;
  const records = (await readGroup(client, execution))?.records ?? [];
  // The history may have grown in between. Then the next reader finds another last event, and reads again.
  if (upTo !== undefined) cache.set(execution.runId, { upTo, records });
  return records;
}

function cacheOf(client: Client): LRUCache<string, Read> {
  const known = remembered.get(client);
  if (known) return known;
  const cache = new LRUCache<string, Read>({ maxSize: MAX_ATTEMPTS, sizeCalculation: sizeOf });
  remembered.set(client, cache);
  return cache;
}

function sizeOf({ records }: Read): number {
  return records.reduce((sum, record) => sum + 1 + (record?.attempts.length ?? 0), 1);
}
