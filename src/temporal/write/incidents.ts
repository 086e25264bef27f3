import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { endpointIncident } from '../../../workflows/index.js';
import type { EndpointIncidentInput } from '../../../workflows/inputs.js';
import {
  attemptFailed,
  attemptSucceeded,
  endpointGone,
  type FailureReport,
} from '../../../workflows/messages.js';
import { dropOldest } from '../../domain/basics/drop-oldest.js';
import type { EndpointKey } from '../../domain/delivery/delivery.js';
import { BACKOFF_AFTER_FAILURES, type OpenIncident } from '../../domain/endpoint/incident.js';
import { endpointAttributes } from '../../domain/ledger/search-attributes.js';
import { incidentWorkflowId } from '../../domain/ledger/workflow-ids.js';
import { describeExecution } from '../read/visibility.js';

export interface IncidentSettings {
  client: Client;
  task_queue: string;
  /** Without a success for so long, an endpoint is disabled, milliseconds. */
  disable_after_ms: number;
  /** The wait before the second probe, milliseconds; it doubles from one to the next. */
  probe_interval_ms: number;
}

/**
 * Failures of an endpoint are reported once in this time at most by a process, milliseconds, or six times between probes; but for those
 * that make it so many that deliveries have to wait, which is told at once.
 */
const REPORT_INTERVAL_MS = 10_000;
const REPORTS_PER_PROBE = 6;
/** Endpoints whose reports are remembered; beyond, the oldest is forgotten and reported anew. */
const MAX_REMEMBERED = 10_000;

/** Opens, feeds and reads the incidents of endpoints. */
export class Incidents {
  private readonly settings: IncidentSettings;
  private readonly interval: number;
  /** When each endpoint was last reported, how many failures have been, and how many have come since. */
  private readonly reported = new Map<string, { at: number; reported: number; unreported: number }>();

  constructor(settings: IncidentSettings) {
    this.settings = settings;
    this.interval = Math.min(REPORT_INTERVAL_MS, settings.probe_interval_ms / REPORTS_PER_PROBE);
  }

  /** Tells of a failed attempt: opens the endpoint's incident, or counts in it. Cheap where there are many. */
  async failed(endpoint: EndpointKey, said: string): Promise<void> {
    const now = Date.now();
    const known = this.reported.get(endpoint.endpoint_id);
    const reported = known?.reported ?? 0;
    const count = 1 + (known?.unreported ?? 0);
    const beginsBackoff = reported < BACKOFF_AFTER_FAILURES && reported + count >= BACKOFF_AFTER_FAILURES;
    if (known && now - known.at < this.interval && !beginsBackoff) {
      known.unreported += 1;
      return;
    }
    this.remember(endpoint.endpoint_id, now, reported + count);
    try {
      await this.workflows.signalWithStart<typeof endpointIncident, [FailureReport]>('endpointIncident', {
        ...this.startOptions(endpoint),
        signal: attemptFailed,
        signalArgs: [{ count, said, at: new Date(now).toISOString() }],
      });
    } catch (error) {
      this.reported.delete(endpoint.endpoint_id);
      throw error;
    }
  }

  /** Tells of an attempt that went well at an endpoint that may have been failing. @returns whether there is an incident */
  async succeeded(endpoint: EndpointKey): Promise<boolean> {
    this.reported.delete(endpoint.endpoint_id);
    try {
      await this.handle(endpoint).signal(attemptSucceeded);
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  }

  /** Tells that the endpoint wants no more deliveries. */
  async gone(endpoint: EndpointKey, attempt: string): Promise<void> {
    await this.workflows.signalWithStart<typeof endpointIncident, [string]>('endpointIncident', {
      ...this.startOptions(endpoint),
      signal: endpointGone,
      signalArgs: [attempt],
    });
  }

  /** The endpoint's incident, where one is open. */
  async get({ account_id, endpoint_id }: EndpointKey): Promise<OpenIncident | undefined> {
    const { client } = this.settings;
    const execution = await describeExecution(client, incidentWorkflowId(account_id, endpoint_id));
    return execution?.status.name === 'RUNNING'
      ? (execution.memo?.['incident'] as OpenIncident | undefined)
      : undefined;
  }

  private get workflows() {
    return this.settings.client.workflow;
  }

  private handle({ account_id, endpoint_id }: EndpointKey) {
    return this.workflows.getHandle(incidentWorkflowId(account_id, endpoint_id));
  }

  private startOptions({ account_id, endpoint_id }: EndpointKey) {
    const { task_queue, disable_after_ms, probe_interval_ms } = this.settings;
    const input: EndpointIncidentInput = {
      endpoint: { account_id, endpoint_id },
      disable_after_ms,
      probe_interval_ms,
    };
    return {
      workflowId: incidentWorkflowId(account_id, endpoint_id),
      taskQueue: task_queue,
      args: [input] as [EndpointIncidentInput],
      typedSearchAttributes: endpointAttributes(account_id, endpoint_id),
    };
  }

  private remember(endpointId: string, at: number, reported: number): void {
    this.reported.delete(endpointId);
    this.reported.set(endpointId, { at, reported, unreported: 0 });
    dropOldest(this.reported, MAX_REMEMBERED);
  }
}
