import type { Client } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import { madeWhole } from '../../../domain/delivery/carried.js';
import type { DeliveryRecord } from '../../../domain/delivery/delivery.js';
import { lastEventId, type Run } from '../history.js';
import { readGroup } from './group-history.js';

type Records = DeliveryRecord[];

interface Read {
  /** The last event of the history when it was read. */
  upTo: string;
  records: Records;
}

const remembered = new WeakMap<Client, LRUCache<string, Read>>();

/**
 * The records of an execution's deliveries, as its history has them. They are remembered as long as the history does
 * not grow: most executions only wait, and the last event says so without the others.
 */
export async function readGroupRecords(client: Client, execution: Run): Promise<Records> {
  const cache = cacheOf(client);
  const upTo = await lastEventId(client, execution);
  const known = cache.get(execution.runId);
  if (known && known.upTo === upTo) return known.records;
  const records = await readWhole(client, execution);
  // The history may have grown in between. Then the next reader finds another last event, and reads again.
  if (upTo !== undefined) cache.set(execution.runId, { upTo, records });
  return records;
}

/** What the run does not have whole is in the run before it, as long as Temporal keeps that. */
async function readWhole(client: Client, execution: Run): Promise<Records> {
  let before: string | undefined;
  const machine = await readGroup(client, execution, (event) => {
    before ||= event.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? undefined;
  });
  const { records = [] } = machine ?? {};
  const isWhole = records.every(({ attempts }) => attempts.every(({ shortened }) => !shortened));
  if (isWhole || !before) return records;
  const earlier = await readGroupRecords(client, { workflowId: execution.workflowId, runId: before });
  return records.map((record, index) => ({
    ...record,
    attempts: madeWhole(record.attempts, earlier[index]?.attempts ?? []),
  }));
}

function cacheOf(client: Client): LRUCache<string, Read> {
  const known = remembered.get(client);
  if (known) return known;
  // Of attempts, which take about 1 KiB each.
  const cache = new LRUCache<string, Read>({ maxSize: 20_000, sizeCalculation: sizeOf });
  remembered.set(client, cache);
  return cache;
}

function sizeOf({ records }: Read): number {
  return records.reduce((sum, record) => sum + 1 + record.attempts.length, 1);
}
