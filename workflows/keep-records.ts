import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import { LogCopyError } from '../src/domain/log/checkpoint-copy.js';
import { LogAlteredError } from '../src/domain/log/log-altered.js';

export interface KeepRecordsInput {
  /** The signed note of the last checkpoint; absent: the result of the last run has it. */
  checkpoint?: string;
}

export interface KeepRecordsResult {
  /** Executions that were terminated before this have been looked at. ISO 8601, UTC. */
  terminated_until?: string | undefined;
  /**
   * The signed note of the checkpoint that the run ended with: here it stands where nobody reaches who has MongoDB
   * alone.
   */
  checkpoint?: string | undefined;
}

const { recordTerminated, tellEnds, removePayloads } = proxyActivities<Activities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

const { appendToLog } = proxyActivities<Activities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  // A log that was altered is not signed again, nor one whose copy outside cannot be kept: the run fails, and the next
  // one tries again.
  retry: {
    initialInterval: '1s',
    maximumInterval: '30s',
    nonRetryableErrorTypes: [LogAlteredError.name, LogCopyError.name],
  },
});

/**
 * Does once a minute what records need besides the executions that write them: closes the rows of what was terminated
 * in Temporal, tells accounts of deliveries that have ended without success, removes payloads that are past their time,
 * and has the log take what was recorded. Each run ends with a checkpoint of the log, which is its result: the Schedule
 * that starts it hands it to the next run, after any number that failed, and each checkpoint has to continue it.
 */
export async function keepRecords(input: KeepRecordsInput): Promise<KeepRecordsResult> {
  const last = workflowInfo().lastResult as KeepRecordsResult | undefined;
  const { until } = await recordTerminated({ since: last?.terminated_until });
  await tellEnds();
  await removePayloads();
  let checkpoint = input.checkpoint ?? last?.checkpoint;
  for (;;) {
    const part = await appendToLog({ checkpoint });
    checkpoint = part.checkpoint ?? checkpoint;
    if (part.is_last) return { terminated_until: until, checkpoint };
  }
}
