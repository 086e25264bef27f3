import { continueAsNew, proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import { LogAlteredError } from '../../src/domain/log/log-altered.js';

export interface ArchiveDeliveriesInput {
  /** How far back the first run looks, milliseconds. */
  reach_ms: number;
  /** What closed later than this before now is left to the next run, milliseconds; absent: a few seconds. */
  settled_after_ms?: number;
  /** What earlier runs of this one have archived; present if it continues them. */
  archived?: number;
}

export interface ArchiveDeliveriesResult {
  /** Deliveries that were archived, or of which a later run was. */
  archived: number;
  /** Executions that closed before this are archived. ISO 8601, UTC. */
  up_to: string;
}

const { archiveClosed, sweepArchive } = proxyActivities<Activities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

const { appendToLog } = proxyActivities<Activities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  // A log that was altered is not signed again: the run fails, and the archive goes on with the next one.
  retry: { initialInterval: '1s', maximumInterval: '30s', nonRetryableErrorTypes: [LogAlteredError.name] },
});

/**
 * Copies what has closed since the last run from the ledger to the archive, part by part. The archive knows how far it is, so that a run which
 * is interrupted, or missed, is made up for by the next one. Each ends with a checkpoint of the log. A Schedule starts it.
 */
export async function archiveDeliveries(input: ArchiveDeliveriesInput): Promise<ArchiveDeliveriesResult> {
  const { archived: before = 0, ...request } = input;
  let archived = before;
  for (;;) {
    const part = await archiveClosed(request);
    archived += part.archived;
    setCurrentDetails(`${archived} archived, of what closed before ${part.up_to}.`);
    if (part.is_last) {
      await sweepArchive();
      await logAll(request);
      return { archived, up_to: part.up_to };
    }
    if (workflowInfo().continueAsNewSuggested)
      await continueAsNew<typeof archiveDeliveries>({ ...request, archived });
  }
}

/** Appends to the log, part by part, until it has all that was archived. */
async function logAll({ settled_after_ms }: ArchiveDeliveriesInput): Promise<void> {
  const request = settled_after_ms === undefined ? {} : { settled_after_ms };
  for (let isLast = false; !isLast; ) ({ is_last: isLast } = await appendToLog(request));
}
