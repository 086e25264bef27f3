import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { TypedSearchAttributes, type WorkflowIdReusePolicy } from '@temporalio/common';
import type { deliverEvent, fanOutEvent, releaseParked } from '../../workflows/index.js';
import type { AcceptedEvent, DeliverySettings, DeliveryTarget, EndpointKey } from '../domain/delivery.js';
import {
  ACCOUNT_ATTRIBUTE,
  ENDPOINT_ATTRIBUTE,
  EVENT_ATTRIBUTE,
  EVENT_HEAD_ATTRIBUTE,
  KIND_ATTRIBUTE,
  STATUS_ATTRIBUTE,
} from '../domain/search-attributes.js';
import { wakeParkedDeliveries } from './parked-deliveries.js';
import { deliveryWorkflowId, fanOutWorkflowId, releaseWorkflowId } from './workflow-ids.js';

/** Up to this many deliveries are started before an event is answered; more are started by a workflow. */
export const MAX_DIRECT_DELIVERIES = 10;

export interface DeliveryStarterOptions {
  client: Client;
  task_queue: string;
  settings: DeliverySettings;
  /** Whether this process runs a worker on the client's connection, which can take the first workflow task back with the start. */
  eager: boolean;
}

/** What sets one start of a delivery apart from another. */
interface StartOptions {
  /** Whether the delivery stands for its event in a list of events. */
  head?: boolean;
  reuse?: WorkflowIdReusePolicy;
}

/** Writes to the ledger: every promise resolves after Temporal has persisted what was asked for. */
export class DeliveryStarter {
  private readonly options: DeliveryStarterOptions;

  constructor(options: DeliveryStarterOptions) {
    this.options = options;
  }

  /** Starts the deliveries of an event. Done again, it starts those that are missing and nothing twice. */
  async accept(event: AcceptedEvent, targets: readonly DeliveryTarget[]): Promise<void> {
    if (targets.length === 0 || targets.length > MAX_DIRECT_DELIVERIES) {
      await this.startFanOut(event, targets);
    } else {
      await Promise.all(targets.map((target, index) => this.start(event, target, { head: index === 0 })));
    }
  }

  /** Starts one delivery, unless it has been started already. */
  async start(
    event: AcceptedEvent,
    { endpoint_id, schedule = this.options.settings.schedule }: DeliveryTarget,
    { head = false, reuse = 'REJECT_DUPLICATE' }: StartOptions = {},
  ): Promise<void> {
    const { account_id, event_id, event_kind, payload, accepted_at } = event;
    await unlessStarted(
      this.options.client.workflow.start<typeof deliverEvent>('deliverEvent', {
        workflowId: deliveryWorkflowId(account_id, { event_id, endpoint_id }),
        taskQueue: this.options.task_queue,
        args: [
          {
            account_id,
            event_id,
            event_kind,
            payload,
            accepted_at,
            endpoint_id,
            ...this.options.settings,
            schedule,
          },
        ],
        workflowIdReusePolicy: reuse,
        workflowIdConflictPolicy: 'USE_EXISTING',
        requestEagerStart: this.options.eager,
        typedSearchAttributes: new TypedSearchAttributes([
          { key: ACCOUNT_ATTRIBUTE, value: [account_id] },
          { key: ENDPOINT_ATTRIBUTE, value: [endpoint_id] },
          { key: EVENT_ATTRIBUTE, value: [event_id] },
          { key: KIND_ATTRIBUTE, value: event_kind },
          { key: STATUS_ATTRIBUTE, value: 'delivering' },
          ...(head ? [{ key: EVENT_HEAD_ATTRIBUTE, value: true }] : []),
        ]),
      }),
    );
  }

  /** Has the parked deliveries of an endpoint look at it anew, because it takes deliveries again or is gone. */
  async release({ account_id, endpoint_id }: EndpointKey): Promise<void> {
    await this.options.client.workflow.start<typeof releaseParked>('releaseParked', {
      workflowId: releaseWorkflowId(endpoint_id),
      taskQueue: this.options.task_queue,
      args: [{ account_id, endpoint_id }],
      // A run that is under way may have passed deliveries that were parked since: begin anew.
      workflowIdConflictPolicy: 'TERMINATE_EXISTING',
      typedSearchAttributes: new TypedSearchAttributes([{ key: ACCOUNT_ATTRIBUTE, value: [account_id] }]),
    });
  }

  /** Wakes the parked deliveries of an endpoint, oldest first. It lasts as long as there are any; a workflow should wait for it. */
  async wakeParked(endpoint: EndpointKey, onProgress: () => void): Promise<void> {
    await wakeParkedDeliveries(this.options.client, endpoint, onProgress);
  }

  private async startFanOut(event: AcceptedEvent, targets: readonly DeliveryTarget[]): Promise<void> {
    const { account_id, event_id, event_kind, payload, accepted_at } = event;
    await unlessStarted(
      this.options.client.workflow.start<typeof fanOutEvent>('fanOutEvent', {
        workflowId: fanOutWorkflowId(account_id, event_id),
        taskQueue: this.options.task_queue,
        args: [
          {
            account_id,
            event_id,
            event_kind,
            payload,
            accepted_at,
            targets: [...targets],
            ...this.options.settings,
          },
        ],
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        workflowIdConflictPolicy: 'USE_EXISTING',
        requestEagerStart: this.options.eager,
        typedSearchAttributes: new TypedSearchAttributes([
          { key: ACCOUNT_ATTRIBUTE, value: [account_id] },
          { key: EVENT_ATTRIBUTE, value: [event_id] },
          { key: KIND_ATTRIBUTE, value: event_kind },
          { key: EVENT_HEAD_ATTRIBUTE, value: true },
        ]),
      }),
    );
  }
}

/** A workflow that runs already, or has run, is what was wanted. */
async function unlessStarted(start: Promise<unknown>): Promise<void> {
  try {
    await start;
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
