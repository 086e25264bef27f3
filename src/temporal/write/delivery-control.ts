import { setTimeout as delay } from 'node:timers/promises';
import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { type Act, act } from '../../../workflows/messages.js';
import { ERASED_REASON } from '../../domain/attempt/cause.js';
import { type DeliveryKey, deliveryId } from '../../domain/basics/delivery-id.js';
import { type DeliveryRecord, isClosed, type NamedTarget } from '../../domain/delivery/delivery.js';
import type { Action } from '../../domain/delivery/delivery-machine.js';
import { IN_FLIGHT } from '../../domain/delivery/delivery-state.js';
import { isGroup } from '../../domain/ledger/workflow-ids.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import { DeliveryStateConflictError } from '../errors.js';
import { actUpdateId } from '../read/acts/act-outcomes.js';
import type { DeliveryReader } from '../read/delivery-reader.js';
import type { DeliveryStarter } from './delivery-starter.js';
import { sendUpdate } from './send-update.js';
import type { Sender } from './start-calls.js';

/**
 * How long an act waits for the start of its delivery, as an event has its `202` before that, or for the end of an
 * attempt, milliseconds.
 */
const WAITS_MS = 3_000;
const LOOK_AGAIN_MS = 50;
/**
 * The activity of an attempt ends so long after the attempt at most, milliseconds, unless its process is very late, or
 * attempts that are made in the same activity take longer. The row says before that how the attempt ended.
 */
const ATTEMPT_ENDS_WITHIN_MS = 2_000;

/** Steers deliveries. The same update can be sent from Temporal UI. */
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
   * @param operator who does it: an API key's id; and the replay through which they do it
   * @param name of the act, under which it is found again, and done once, however often it is called; absent: nobody
   * looks for it
   * @returns the delivery's record after it; `undefined` if the account has no such live delivery
   * @throws DeliveryStateConflictError if the delivery's state does not allow it, NoWorkerError if no worker answers
   */
  async act(
    action: Action,
    accountId: string,
    key: DeliveryKey,
    operator: { by: string; replay?: string },
    name?: string,
  ): Promise<DeliveryRecord | undefined> {
    const order = { action, ...operator };
    const updateId = name && actUpdateId(name, deliveryId(key));
    const deadline = performance.now() + WAITS_MS;
    for (;;) {
      try {
        const record = await this.actNow(accountId, key, order, updateId);
        if (record) return record;
      } catch (error) {
        if (performance.now() > deadline || !(await this.isEarly(error, accountId, key))) throw error;
        await delay(LOOK_AGAIN_MS);
        continue;
      }
      // Its event is accepted before its execution is started.
      const { status, run_id } = (await this.deliveries.get(accountId, key)) ?? {};
      if (!status || isClosed(status) || run_id) return undefined;
      if (performance.now() > deadline)
        throw new DeliveryStateConflictError('The delivery has not started yet. Try again in a moment.');
      await delay(LOOK_AGAIN_MS);
    }
  }

  /** Whether an act was refused for an attempt that is over, as its row says: the execution hears of it in a moment. */
  private async isEarly(refusal: unknown, accountId: string, key: DeliveryKey): Promise<boolean> {
    if (!(refusal instanceof DeliveryStateConflictError && refusal.message.includes(IN_FLIGHT))) return false;
    const last = (await this.deliveries.get(accountId, key))?.attempts.at(-1);
    return !!last && sharedNow() - Date.parse(last.at) - last.duration_ms < ATTEMPT_ENDS_WITHIN_MS;
  }

  /** Acts upon a delivery whose execution is there; `undefined` if none is. */
  private async actNow(
    accountId: string,
    key: DeliveryKey,
    order: Act,
    updateId?: string,
  ): Promise<DeliveryRecord | undefined> {
    for (const workflowId of await this.deliveries.workflowIds(accountId, key)) {
      const delivery = isGroup(workflowId) ? { delivery: deliveryId(key) } : {};
      const record = await this.update(workflowId, { ...order, ...delivery }, updateId);
      if (record) return record;
    }
    return undefined;
  }

  private update(workflowId: string, order: Act, updateId?: string): Promise<DeliveryRecord | undefined> {
    // A delivery has closed a moment before its execution ends.
    const refused = (message: string) =>
      new DeliveryStateConflictError(
        message.replace(/^Refused: the delivery is closed/, 'The delivery is closed'),
      );
    return sendUpdate(this.client, workflowId, act, order, { refused, updateId });
  }

  /** Whether a replay has done something to a delivery in the run that stands for it. */
  async hasActed(accountId: string, key: DeliveryKey, replayId: string): Promise<boolean> {
    const { interventions = [] } = (await this.deliveries.get(accountId, key)) ?? {};
    return interventions.some(({ replay }) => replay === replayId);
  }

  /**
   * Sends a closed delivery again: a new run under the same workflow id, with the same payload and `webhook-id`, from
   * the beginning of its schedule.
   *
   * @param target the delivery's endpoint as it is now
   * @param sender who does it: an API key's id
   * @returns the new run's id; `undefined` if the account has no such delivery
   * @throws DeliveryStateConflictError if the delivery is open, or its payload was erased
   */
  async resend(
    accountId: string,
    key: DeliveryKey,
    target: NamedTarget,
    sender: Sender,
  ): Promise<string | undefined> {
    const { workflow_id, run_id, status } = (await this.deliveries.get(accountId, key)) ?? {};
    if (!workflow_id || !run_id || !status) return undefined;
    if (!isClosed(status)) throw stillOpen();
    const { event, isErased, ordered } = await this.deliveries.event(accountId, key);
    if (isErased) throw new DeliveryStateConflictError(`${ERASED_REASON} It cannot be sent again.`);
    if (!event)
      throw new DeliveryStateConflictError(
        'The payload of the event is no longer kept, so the delivery cannot be sent again.',
      );
    try {
      return await this.starter.sendAgain(event, { ...target, ...ordered }, sender, { workflow_id, run_id });
    } catch (error) {
      // Another caller was faster.
      if (error instanceof WorkflowExecutionAlreadyStartedError) throw stillOpen();
      throw error;
    }
  }
}

function stillOpen(): DeliveryStateConflictError {
  return new DeliveryStateConflictError(
    'The delivery is open. Only a closed delivery can be sent again; retry an open one.',
  );
}
