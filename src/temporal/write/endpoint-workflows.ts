import type { Client } from '@temporalio/client';
import type { secretRotation, verifyEndpoint } from '../../../workflows/index.js';
import { type Confirmation, confirmed, secretsChanged, verifyAgain } from '../../../workflows/messages.js';
import type { EndpointKey } from '../../domain/endpoint/endpoint-key.js';
import { endpointAttributes } from '../../domain/ledger/search-attributes.js';
import { endpointSummary, type NamedEndpoint } from '../../domain/ledger/summaries.js';
import { rotationWorkflowId, verificationWorkflowId } from '../../domain/ledger/workflow-ids.js';
import { unlessGone } from '../errors.js';

export interface EndpointWorkflowsOptions {
  client: Client;
  taskQueue: string;
  /** Waits between verification attempts, milliseconds. */
  verificationSchedule: readonly number[];
  verificationLimitMs: number;
  attemptTimeoutMs: number;
}

/**
 * The workflows that look after single endpoints. Every promise resolves after Temporal has persisted what was asked
 * for.
 */
export class EndpointWorkflows {
  private readonly options: EndpointWorkflowsOptions;

  constructor(options: EndpointWorkflowsOptions) {
    this.options = options;
  }

  /** Begins an endpoint's verification; one that is under way begins again. */
  async verify({ account_id, endpoint_id, host }: NamedEndpoint): Promise<void> {
    const { client, taskQueue, verificationSchedule, verificationLimitMs, attemptTimeoutMs } = this.options;
    await client.workflow.signalWithStart<typeof verifyEndpoint>('verifyEndpoint', {
      workflowId: verificationWorkflowId(account_id, endpoint_id),
      taskQueue,
      args: [
        {
          account_id,
          endpoint_id,
          schedule: verificationSchedule,
          limit_ms: verificationLimitMs,
          timeout_ms: attemptTimeoutMs,
        },
      ],
      signal: verifyAgain,
      staticSummary: endpointSummary('verification', { account_id, endpoint_id, host }),
      typedSearchAttributes: endpointAttributes(account_id, endpoint_id),
    });
  }

  /**
   * Notifies an endpoint's verification that its subscriber has confirmed.
   *
   * @returns whether a verification is under way
   */
  async confirm({ account_id, endpoint_id }: EndpointKey, confirmation: Confirmation): Promise<boolean> {
    const handle = this.options.client.workflow.getHandle(verificationWorkflowId(account_id, endpoint_id));
    return (await unlessGone(handle.signal(confirmed, confirmation).then(() => true))) ?? false;
  }

  /** Starts the workflow that ends the overlap of an endpoint's signing secrets in time. */
  async secretsChanged({ account_id, endpoint_id, host }: NamedEndpoint): Promise<void> {
    await this.options.client.workflow.signalWithStart<typeof secretRotation>('secretRotation', {
      workflowId: rotationWorkflowId(account_id, endpoint_id),
      taskQueue: this.options.taskQueue,
      args: [{ account_id, endpoint_id }],
      signal: secretsChanged,
      staticSummary: endpointSummary('secret rotation', { account_id, endpoint_id, host }),
      typedSearchAttributes: endpointAttributes(account_id, endpoint_id),
    });
  }
}
