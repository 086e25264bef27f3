import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Client,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure, type UpdateDefinition } from '@temporalio/common';
import { queuesByKey } from '../../domain/basics/bounded-queue.js';
import { TimeoutError, withTimeout } from '../../domain/basics/with-timeout.js';
import { GRPC, hasCode, NoWorkerError } from '../errors.js';
import { endingWithin } from '../server/calls.js';

/**
 * How long the answer of an execution is waited for, milliseconds. It takes a few; after this, no worker is running.
 */
const ANSWER_LIMIT_MS = 5_000;

/** How long the task after a failed one is given before the update is sent again, milliseconds. */
const NEXT_TASK_MS = 20;

/**
 * Updates of one execution that are in flight at once; the others wait. Temporal refuses more than ten
 * (`history.maxInFlightUpdates`), and the SDK sends a refused one again after a second or more, though an answer takes
 * milliseconds. Two processes stay within the ten.
 */
export const UPDATES_AT_ONCE = 5;
const queueOf = queuesByKey(UPDATES_AT_ONCE, 1_000);

/**
 * Sends an update to an execution, and waits for its answer.
 *
 * @param refused makes the error that is thrown if the execution refuses it
 * @param updateId names the update, so that a repeat gets the answer of the first one
 * @returns what the execution answers; `undefined` if it is not running
 * @throws NoWorkerError if no worker answers
 */
export async function sendUpdate<Result, Argument>(
  client: Client,
  workflowId: string,
  update: UpdateDefinition<Result, [Argument]>,
  argument: Argument,
  {
    refused,
    updateId = randomUUID(),
  }: { refused: (message: string) => Error; updateId?: string | undefined },
): Promise<Result | undefined> {
  const handle = client.workflow.getHandle(workflowId);
  const deadline = performance.now() + ANSWER_LIMIT_MS;
  const execute = async (): Promise<Result> => {
    if (performance.now() >= deadline) throw new NoWorkerError(ANSWER_LIMIT_MS);
    try {
      return await handle.executeUpdate<Result, [Argument]>(update, { args: [argument], updateId });
    } catch (error) {
      // It failed with the workflow task that it came in, as when it arrives while the execution closes. It had no
      // effect then, and what becomes of it is known after the next task.
      if (!hasCode(error, GRPC.failedPrecondition)) throw error;
      await delay(NEXT_TASK_MS);
      return execute();
    }
  };
  try {
    // The deadline frees the call; the SDK may begin it once more, with the same time again, if the server answers just
    // then that it is late.
    const answer = queueOf(workflowId)(() => endingWithin(client, deadline - performance.now(), execute));
    return await withTimeout(ANSWER_LIMIT_MS, answer);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || error instanceof TimeoutError)
      throw new NoWorkerError(ANSWER_LIMIT_MS);
    if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure)
      throw refused(`Refused: ${error.cause.message}.`);
    throw error;
  }
}
