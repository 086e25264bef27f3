import type { Client } from '@temporalio/client';
import type { AlertPeopleInput, alertPeople } from '../../../workflows/alert-people.js';
import { raiseAlert } from '../../../workflows/messages.js';
import type { Alert, AlertChannel } from '../../domain/alert/alert.js';
import { alertsWorkflowId } from '../../domain/ledger/workflow-ids.js';

export interface AlertsOptions {
  client: Client;
  taskQueue: string;
  channels: readonly AlertChannel[];
  /** Kinds of events that people are alerted to. */
  kinds: readonly string[];
  /** How long a failing endpoint may recover before anybody is alerted, milliseconds. */
  holdMs: number;
  /** The least time between two messages, milliseconds. */
  intervalMs: number;
}

/** Alerts people to operational events: a workflow for each channel collects, holds and sends them. */
export class Alerts {
  private readonly options: AlertsOptions;

  constructor(options: AlertsOptions) {
    this.options = options;
  }

  /** Whether people are alerted to events of a kind. */
  concerns(kind: string): boolean {
    return this.options.kinds.includes(kind);
  }

  /** Raises an alert. Repeated, it is sent once. Resolves after Temporal has persisted it. */
  async raise(alert: Alert): Promise<void> {
    const { client, taskQueue, channels, holdMs: hold_ms, intervalMs: interval_ms } = this.options;
    await Promise.all(
      channels.map((channel) => {
        const input: AlertPeopleInput = { channel, hold_ms, interval_ms };
        return client.workflow.signalWithStart<typeof alertPeople, [Alert]>('alertPeople', {
          workflowId: alertsWorkflowId(taskQueue, channel),
          taskQueue,
          args: [input],
          signal: raiseAlert,
          signalArgs: [alert],
          staticSummary: `alerts by ${channel}`,
        });
      }),
    );
  }
}
