import { continueAsNew, proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import { LogCopyError } from '../../src/domain/log/checkpoint-copy.js';
import { LogAlteredError } from '../../src/domain/log/log-altered.js';

export interface ArchiveDeliveriesInput {
  /** How far back the first run looks, milliseconds. */
  reach_ms: number;
  /** What closed later than this before now is left to the next run, milliseconds; absent: a few seconds. */
  settled_after_ms?: number;
  /** What earlier runs of this one have archived; present if it continues them. */
  archived?: number;
  /** The signed note of the last checkpoint; absent: the result of the last run has it. */
  checkpoint?: string | undefined;
}

export interface ArchiveDeliveriesResult {
  /** Deliveries that were archived, or of which a later run was. */
  archived: number;
  /** Executions that closed before this are archived. ISO 8601, UTC. */
  up_to: string;
  /**
   * The signed note of the checkpoint that the run ended with: here it stands where nobody reaches who has MongoDB
   * alone.
   */
  checkpoint?: string | undefined;
}

const { archiveClosed, sweepArchive } = proxyActivities<Activities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

const { appendToLog } = proxyActivities<Activities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  // A log that was altered is not signed again, nor one whose copy outside cannot be kept: the run fails, and the
  // archive goes on with the next one.
  retry: {
    initialInterval: '1s',
    maximumInterval: '30s',
    nonRetryableErrorTypes: [LogAlteredError.name, LogCopyError.name],
  },
});

/**
 * Copies what has closed since the last run from the ledger to the archive, part by part. The archive knows how far it
 * is, so that a run which is interrupted, or missed, is made up for by the next one. Each ends with a checkpoint of the
 * log, which is its result: the Schedule that starts it hands it to the next run, after any number that failed, and
 * each checkpoint has to continue it.
 */
export async function archiveDeliveries(input: ArchiveDeliveriesInput): Promise<ArchiveDeliveriesResult> {
  const { archived: before = 0, checkpoint: given, ...request } = input;
  const last = workflowInfo().lastResult as ArchiveDeliveriesResult | undefined;
  let archived = before;
  let checkpoint = given ?? last?.checkpoint;
  for (;;) {
    const part = await archiveClosed({ ...request, checkpoint });
    archived += part.archived;
    checkpoint = part.checkpoint ?? checkpoint;
    setCurrentDetails(`${archived} archived, of what closed before ${part.up_to}.`);
    if (part.is_last) {
      await sweepArchive();
      checkpoint = await logAll(checkpoint);
      return { archived, up_to: part.up_to, checkpoint };
    }
    if (workflowInfo().continueAsNewSuggested)
      await continueAsNew<typeof archiveDeliveries>({ ...request, archived, checkpoint });
  }
}

/** Appends to the log, part by part, until it has all that was archived. @returns the last checkpoint */
async function logAll(known: string | undefined): Promise<string | undefined> {
  let checkpoint = known;
  for (;;) {
    const part = await appendToLog({ checkpoint });
    checkpoint = part.checkpoint ?? checkpoint;
    if (part.is_last) return checkpoint;
  }
}
