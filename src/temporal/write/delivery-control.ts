import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import { handOver, OPERATOR_UPDATES } from '../../../workflows/messages.js';
import type { DeliveryKey } from '../../domain/basics/delivery-id.js';
import { type DeliveryRecord, isClosed, type NamedTarget } from '../../domain/delivery/delivery.js';
import { ERASED_REASON } from '../../domain/delivery/reasons.js';
import { deliveryWorkflowId } from '../../domain/ledger/workflow-ids.js';
import { DeliveryStateConflictError } from '../errors.js';
import type { DeliveryReader } from '../read/delivery-reader.js';
import type { DeliveryStarter } from './delivery-starter.js';
import { sendUpdate } from './send-update.js';

/** What can be done to a live delivery. */
export type OperatorAction = keyof typeof OPERATOR_UPDATES;

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
   * @param replay the replay through which they do it. It does it once: a repeat has no effect
   * @returns the delivery's record after it; `undefined` if the account has no such live delivery
   * @throws DeliveryStateConflictError if the delivery's state does not allow it, NoWorkerError if no worker answers
   */
  async act(
    action: OperatorAction,
    accountId: string,
    key: DeliveryKey,
    by: string,
    replay?: string,
  ): Promise<DeliveryRecord | undefined> {
    const workflowId = deliveryWorkflowId(accountId, key);
    const operator = { by, ...(replay !== undefined && { replay }) };
    const steer = () => this.update(workflowId, OPERATOR_UPDATES[action], operator, replay);
    const done = await steer();
    if (done) return done;
    const located = await this.deliveries.locate(accountId, key);
    if (!located) return undefined;
    const { execution, row } = located;
    // A group's member goes on by itself before it is acted upon. It may do so already, by a request that came before.
    if (row.index !== undefined) await this.update(execution.workflowId, handOver, { ...key, action });
    return steer();
  }

  private update<Result, Argument>(
    workflowId: string,
    update: UpdateDefinition<Result, [Argument]>,
    argument: Argument,
    updateId?: string,
  ): Promise<Result | undefined> {
    const refused = (message: string) => new DeliveryStateConflictError(message);
    return sendUpdate(this.client, workflowId, update, argument, { refused, updateId });
  }

  /**
   * Sends a closed delivery again: a new run under the same workflow id, with the same payload and `webhook-id`, from the beginning of
   * its schedule.
   *
   * @param target the delivery's endpoint as it is now
   * @param by who does it: an API key's id
   * @param traceparent of the request that asks for it, if it is traced
   * @returns the new run's id; `undefined` if the account has no such delivery
   * @throws DeliveryStateConflictError if the delivery is open, or its payload was erased
   */
  async resend(
    accountId: string,
    key: DeliveryKey,
    target: NamedTarget,
    by: string,
    traceparent?: string,
  ): Promise<string | undefined> {
    const { workflow_id, run_id, status } = (await this.deliveries.get(accountId, key)) ?? {};
    if (!workflow_id || !run_id || !status) return undefined;
    if (!isClosed(status)) throw stillOpen();
    const event = await this.deliveries.event(accountId, key);
    if (!event)
      throw new DeliveryStateConflictError(
        'The payload of the event is no longer kept, so the delivery cannot be sent again.',
      );
    if (!(await this.starter.canSend(event)))
      throw new DeliveryStateConflictError(`${ERASED_REASON} It cannot be sent again.`);
    try {
      return await this.starter.resend(event, target, { workflow_id, run_id, by, traceparent });
    } catch (error) {
      // Another caller was faster.
      if (error instanceof WorkflowExecutionAlreadyStartedError) throw stillOpen();
      throw error;
    }
  }
}

function stillOpen(): DeliveryStateConflictError {
  return new DeliveryStateConflictError('The delivery is open. Only a closed delivery can be sent again.');
}
