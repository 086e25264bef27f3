import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Client,
  isGrpcServiceError,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure, type UpdateDefinition } from '@temporalio/common';
import { handOver, OPERATOR_UPDATES } from '../../../workflows/messages.js';
import type { DeliveryKey } from '../../domain/basics/ids.js';
import { type DeliveryRecord, type DeliveryTarget, isClosed } from '../../domain/delivery/delivery.js';
import { deliveryWorkflowId } from '../../domain/ledger/workflow-ids.js';
import { DeliveryStateConflictError, NoWorkerError } from '../errors.js';
import type { DeliveryReader } from '../read/delivery-reader.js';
import { readStartedEvent } from '../read/history.js';
import type { DeliveryStarter } from './delivery-starter.js';

/** What can be done to a live delivery. */
export type OperatorAction = keyof typeof OPERATOR_UPDATES;

/** How long an answer of a live delivery is waited for, milliseconds. It takes a few; after this, no worker is running. */
const ANSWER_LIMIT_MS = 5_000;

/** How long the task after a failed one is given before the update is sent again, milliseconds. */
const NEXT_TASK_MS = 20;

/** The gRPC code of an update whose workflow task failed. */
const FAILED_PRECONDITION = 9;

/** Steers deliveries. The same updates can be sent from Temporal UI. */
export class DeliveryControl {
  private readonly client: Client;
  private readonly starter: DeliveryStarter;
  private readonly deliveries: DeliveryReader;

  constructor(client: Client, starter: DeliveryStarter, deliveries: DeliveryReader) {
    this.client = client;
    this.starter = starter;
    this.deliveries = deliveries;
  }

  /**
   * Does something to a live delivery, and waits for its answer.
   *
   * @param by who does it: an API key's id
   * @returns the delivery's record after it; `undefined` if the account has no such live delivery
   * @throws DeliveryStateConflictError if the delivery's state does not allow it, NoWorkerError if no worker answers
   */
  async act(
    action: OperatorAction,
    accountId: string,
    key: DeliveryKey,
    by: string,
  ): Promise<DeliveryRecord | undefined> {
    const workflowId = deliveryWorkflowId(accountId, key);
    const steer = () => this.update(workflowId, OPERATOR_UPDATES[action], { by });
    const done = await steer();
    if (done) return done;
    // A group's member goes on by itself before it is acted upon.
    const { execution, row } = (await this.deliveries.locate(accountId, key)) ?? {};
    if (!execution || row?.index === undefined) return undefined;
    await this.update(execution.workflowId, handOver, { ...key, action });
    return steer();
  }

  /** @returns what the execution answers; `undefined` if it is not running */
  private async update<Result, Argument>(
    workflowId: string,
    update: UpdateDefinition<Result, [Argument]>,
    argument: Argument,
  ): Promise<Result | undefined> {
    const handle = this.client.workflow.getHandle(workflowId);
    const deadline = Date.now() + ANSWER_LIMIT_MS;
    const updateId = randomUUID();
    const execute = async (): Promise<Result> => {
      try {
        return await handle.executeUpdate<Result, [Argument]>(update, { args: [argument], updateId });
      } catch (error) {
        if (!failedWithItsTask(error)) throw error;
        if (Date.now() >= deadline) throw new NoWorkerError(ANSWER_LIMIT_MS);
        await delay(NEXT_TASK_MS);
        return execute();
      }
    };
    try {
      return await this.client.withDeadline(deadline, execute);
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) throw new NoWorkerError(ANSWER_LIMIT_MS);
      if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) {
        throw new DeliveryStateConflictError(`Refused: ${error.cause.message}.`);
      }
      throw error;
    }
  }

  /**
   * Sends a closed delivery again: a new run under the same workflow id, with the same payload and `webhook-id`, from the beginning of
   * its schedule.
   *
   * @param target the delivery's endpoint as it is now
   * @param by who does it: an API key's id
   * @returns the new run's id; `undefined` if the account has no such delivery
   * @throws DeliveryStateConflictError if the delivery is open
   */
  async resend(
    accountId: string,
    key: DeliveryKey,
    target: DeliveryTarget,
    by: string,
  ): Promise<string | undefined> {
    const { workflow_id, run_id, status } = (await this.deliveries.get(accountId, key)) ?? {};
    if (!workflow_id || !run_id || !status) return undefined;
    if (!isClosed(status)) throw stillOpen();
    const event = await readStartedEvent(
      this.client,
      { workflowId: workflow_id, runId: run_id },
      key.event_id,
    );
    if (!event) return undefined;
    try {
      return await this.starter.resend(event, target, { workflow_id, run_id, by });
    } catch (error) {
      // Another caller was faster.
      if (error instanceof WorkflowExecutionAlreadyStartedError) throw stillOpen();
      throw error;
    }
  }
}

/**
 * Whether an update failed with the workflow task that it came in, as when it arrives while the execution closes. It had no effect then, and
 * what becomes of it is known after the next task.
 */
function failedWithItsTask(error: unknown): boolean {
  return (
    error instanceof ServiceError &&
    isGrpcServiceError(error.cause) &&
    error.cause.code === FAILED_PRECONDITION
  );
}

function stillOpen(): DeliveryStateConflictError {
  return new DeliveryStateConflictError('The delivery is open. Only a closed delivery can be sent again.');
}
