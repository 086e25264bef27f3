import { type Client, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { cancel, pause, resume, retryNow } from '../../workflows/messages.js';
import type { DeliveryRecord, Intervention } from '../domain/delivery.js';
import type { DeliveryKey } from '../domain/ids.js';
import { Problem } from '../domain/problem.js';
import { deliveryWorkflowId } from '../domain/workflow-ids.js';

const UPDATES = { retry: retryNow, cancel, pause, resume } as const;

/** Steers live deliveries. The same updates can be sent from Temporal UI. */
export class DeliveryControl {
  private readonly client: Client;

  constructor(client: Client) {
    this.client = client;
  }

  /**
   * Does something to a live delivery, and waits until it has taken that in.
   *
   * @param by who does it: an API key's id
   * @returns the delivery's record after it; `undefined` where the account has no live delivery of that name
   * @throws Problem 409 where the delivery's state does not allow it
   */
  async act(
    action: Intervention['action'],
    accountId: string,
    key: DeliveryKey,
    by: string,
  ): Promise<DeliveryRecord | undefined> {
    const handle = this.client.workflow.getHandle(deliveryWorkflowId(accountId, key));
    try {
      return await handle.executeUpdate(UPDATES[action], { args: [{ by }] });
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) {
        throw new Problem('delivery_state_conflict', `Refused: ${error.cause.message}.`);
      }
      throw error;
    }
  }
}
