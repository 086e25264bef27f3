import type { Client } from '@temporalio/client';
import { ERASED_REASON } from '../../../domain/attempt/cause.js';
import { deliveryId } from '../../../domain/basics/delivery-id.js';
import type { NamedTarget } from '../../../domain/delivery/delivery.js';
import { deliveryWorkflowId } from '../../../domain/ledger/workflow-ids.js';
import type { ReplayItem, ReplayPlan, ReplayResult } from '../../../domain/replay/replay.js';
import { errorClass } from '../../../domain/text/error-class.js';
import { isTemporalUnavailable, NoWorkerError, startedNow, unlessStateConflicts } from '../../errors.js';
import type { DeliveryReader } from '../../read/delivery-reader.js';
import { REPLAY_MEMO } from '../../read/earlier-runs.js';
import { describeExecution, type Execution } from '../../read/visibility/visibility.js';
import type { DeliveryControl } from '../delivery-control.js';
import type { DeliveryStarter } from '../delivery-starter.js';

type MemberOutcome = 'done' | 'skipped';

/** Why an event cannot be sent again. */
class NotKeptError extends Error {}

/**
 * Actions of a replay on a delivery. Everything is done once, however often it is asked for: what the replay has done
 * before is found on the delivery, and what two processes do at the same time is told apart by Temporal.
 */
export class ReplayActs {
  private readonly client: Client;
  private readonly starter: DeliveryStarter;
  private readonly control: DeliveryControl;
  private readonly deliveries: DeliveryReader;

  constructor(
    client: Client,
    starter: DeliveryStarter,
    control: DeliveryControl,
    deliveries: DeliveryReader,
  ) {
    this.client = client;
    this.starter = starter;
    this.control = control;
    this.deliveries = deliveries;
  }

  /**
   * Acts on one delivery.
   *
   * @param target its endpoint as it is now; `undefined` if that was deleted
   * @throws if Temporal or a worker does not answer: then it is to be repeated
   */
  async act(plan: ReplayPlan, item: ReplayItem, target: NamedTarget | undefined): Promise<ReplayResult> {
    const id = deliveryId(item);
    try {
      return { id, result: await this.outcomeOf(plan, item, target) };
    } catch (error) {
      if (error instanceof NoWorkerError || isTemporalUnavailable(error)) throw error;
      return {
        id,
        result: 'failed',
        detail: error instanceof NotKeptError ? error.message : errorClass(error),
      };
    }
  }

  private async outcomeOf(
    plan: ReplayPlan,
    item: ReplayItem,
    target: NamedTarget | undefined,
  ): Promise<MemberOutcome> {
    const workflowId = deliveryWorkflowId(plan.account_id, item);
    const own = await describeExecution(this.client, workflowId);
    if (plan.action !== 'resend') return this.steer(plan, item, own);
    if (isOf(own, plan)) return 'done';
    // It must still be what was found: nobody has sent it again. Until then, a new delivery, one of a group, and one
    // past Temporal's retention have no execution of their own.
    const isAsFound = own === undefined || (item.workflow_id === undefined && own.runId === item.run_id);
    // Its row says that it has closed a moment before its execution ends.
    if (!target || !isAsFound) return 'skipped';
    return this.send(plan, item, target);
  }

  /** Sends a closed delivery again, or an event to an endpoint that never had it. */
  private async send(plan: ReplayPlan, item: ReplayItem, target: NamedTarget): Promise<MemberOutcome> {
    const { account_id, actor, replay_id: replay } = plan;
    const { run_id, is_new, workflow_id = deliveryWorkflowId(account_id, item) } = item;
    const { event, isErased, ordered } = await this.deliveries.event(account_id, item);
    if (isErased) throw new NotKeptError(ERASED_REASON);
    if (!event) throw new NotKeptError('Its event is not kept any more.');
    const sender = { by: actor.id, replay };
    const previous = is_new ? undefined : { workflow_id, run_id };
    const isSent = await startedNow(
      this.starter.sendAgain(event, { ...target, ...ordered }, sender, previous),
    );
    if (isSent) return 'done';
    // Somebody else was faster: perhaps another process with the same act, whose run may have ended since.
    const latest = await describeExecution(this.client, deliveryWorkflowId(account_id, item));
    return isOf(latest, plan) ? 'done' : 'skipped';
  }

  /** Retries, cancels or resumes an open delivery. */
  private async steer(
    { action, account_id, actor, replay_id }: ReplayPlan,
    item: ReplayItem,
    own: Execution | undefined,
  ): Promise<MemberOutcome> {
    if (action === 'resend') throw new TypeError('not an act on an open delivery');
    if (own && item.workflow_id === undefined && own.runId !== item.run_id) return 'skipped';
    const operator = { by: actor.id, replay: replay_id };
    const act = this.control.act(action, account_id, item, operator, replay_id);
    if (await unlessStateConflicts(act)) return 'done';
    // It may have closed since this was done to it.
    return (await this.control.hasActed(account_id, item, replay_id)) ? 'done' : 'skipped';
  }
}

/** Whether a replay has started the latest run of a delivery. */
function isOf(execution: Execution | undefined, { replay_id }: ReplayPlan): boolean {
  return execution?.memo?.[REPLAY_MEMO] === replay_id;
}
