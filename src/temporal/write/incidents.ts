import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
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
import { endpointSummary, type NamedEndpoint } from '../../domain/ledger/summaries.js';
import { incidentWorkflowId } from '../../domain/ledger/workflow-ids.js';
import { describeExecution } from '../read/visibility/visibility.js';

export interface IncidentSettings {
  client: Client;
  taskQueue: string;
  /** Without a success for so long, an endpoint is disabled, milliseconds. */
  disableAfterMs: number;
  /** The wait before the second probe, milliseconds; it doubles from one to the next. */
  probeIntervalMs: number;
}

/**
 * How long a process keeps failures of an endpoint before it reports them together, milliseconds: shortly while deliveries are about to
 * wait, so that many processes agree on that soon, and longer before and after, when the failures only count.
 */
const REPORT_SOON_MS = 500;
const REPORT_SOON_AFTER = BACKOFF_AFTER_FAILURES / 2;
const REPORT_FEW_MS = 30_000;
const REPORT_MANY_MS = 10_000;
/** Nothing is kept for longer than this part of the time between probes. */
const REPORTS_PER_PROBE = 2;
/** A success is not reported again within this time, unless a failure came between, milliseconds. */
const SUCCESS_KNOWN_MS = 2_000;
/** The most reports in flight to Temporal: thousands of endpoints may begin to fail at once, and new events come first. */
const REPORTS_IN_FLIGHT = 8;
/** Endpoints whose reports are remembered; beyond, the oldest is forgotten and its next failure is reported at once. */
const MAX_REMEMBERED = 10_000;

/** What a process has reported of an endpoint's failures, and what it has not. */
interface Reported {
  /** Reported so far. */
  reported: number;
  /** Not reported yet. */
  unreported: number;
  /** The last failure. */
  said: string;
  at: number;
  /** Reports what is left, at a time: milliseconds since the epoch. */
  timer?: NodeJS.Timeout | undefined;
  due: number;
}

/** Opens, feeds and reads the incidents of endpoints. */
export class Incidents {
  private readonly settings: IncidentSettings;
  private readonly known = new Map<string, Reported>();
  private readonly succeeding = new LRUCache<string, Promise<boolean>>({
    max: MAX_REMEMBERED,
    ttl: SUCCESS_KNOWN_MS,
  });
  /** When the attempts began that have succeeded, the latest of each endpoint. Milliseconds since the epoch. */
  private readonly successes = new LRUCache<string, number>({ max: MAX_REMEMBERED });
  private readonly limit = pLimit(REPORTS_IN_FLIGHT);

  constructor(settings: IncidentSettings) {
    this.settings = settings;
  }

  /**
   * Reports a failed attempt: opens the endpoint's incident, or counts in it. Cheap if there are many. An attempt that began before one that
   * has succeeded says nothing of the endpoint as it is now: many may time out just after its return.
   *
   * @param began milliseconds since the epoch
   */
  async failed(endpoint: NamedEndpoint, said: string, began: number): Promise<void> {
    if (began < (this.successes.get(endpoint.endpoint_id) ?? 0)) return;
    const at = Date.now();
    this.succeeding.delete(endpoint.endpoint_id);
    const known = this.known.get(endpoint.endpoint_id);
    if (known) {
      Object.assign(known, { unreported: known.unreported + 1, said, at });
      const { reported, unreported } = known;
      const beginsBackoff =
        reported < BACKOFF_AFTER_FAILURES && reported + unreported >= BACKOFF_AFTER_FAILURES;
      if (!beginsBackoff) {
        this.reportLater(endpoint, known);
        return;
      }
    }
    const entry =
      known ?? this.remember(endpoint.endpoint_id, { reported: 0, unreported: 1, said, at, due: 0 });
    const report = take(entry);
    try {
      await this.limit(() =>
        this.workflows.signalWithStart<typeof endpointIncident, [FailureReport]>('endpointIncident', {
          ...this.startOptions(endpoint),
          signal: attemptFailed,
          signalArgs: [report],
        }),
      );
    } catch (error) {
      this.forget(endpoint.endpoint_id);
      throw error;
    }
  }

  private reportLater(endpoint: EndpointKey, known: Reported): void {
    const wait = Math.min(longestWait(known), this.settings.probeIntervalMs / REPORTS_PER_PROBE);
    const due = Date.now() + wait;
    if (known.timer && known.due <= due) return;
    clearTimeout(known.timer);
    known.due = due;
    known.timer = setTimeout(() => {
      known.timer = undefined;
      // It only counts in an open incident: the endpoint may have recovered, as another process knows.
      this.limit(() => this.handle(endpoint).signal(attemptFailed, take(known))).catch(() =>
        this.forget(endpoint.endpoint_id),
      );
    }, wait).unref();
  }

  /**
   * Reports an attempt that succeeded at an endpoint that may have been failing.
   *
   * @param began milliseconds since the epoch
   * @param isMarked the endpoint was marked as failing when the attempt began: another process may have opened an incident since this one
   *   found none
   * @returns whether an incident was open
   */
  async succeeded(endpoint: EndpointKey, began: number, isMarked = false): Promise<boolean> {
    const { endpoint_id } = endpoint;
    this.successes.set(endpoint_id, Math.max(this.successes.get(endpoint_id) ?? 0, began));
    this.forget(endpoint_id);
    const known = this.succeeding.get(endpoint_id);
    if (!known) return this.report(endpoint);
    if ((await known) || !isMarked) return known;
    const latest = this.succeeding.get(endpoint_id);
    return latest && latest !== known ? latest : this.report(endpoint);
  }

  private report(endpoint: EndpointKey): Promise<boolean> {
    const { endpoint_id } = endpoint;
    const report = this.limit(() => this.reportSuccess(endpoint));
    this.succeeding.set(endpoint_id, report);
    report.catch(() => this.succeeding.delete(endpoint_id));
    return report;
  }

  private async reportSuccess(endpoint: EndpointKey): Promise<boolean> {
    try {
      await this.handle(endpoint).signal(attemptSucceeded);
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  }

  /** Reports that the endpoint answered 410 Gone, as it was at a version. */
  async gone(endpoint: NamedEndpoint, attempt: string, verificationRevision: number): Promise<void> {
    await this.workflows.signalWithStart<typeof endpointIncident, [string, number?]>('endpointIncident', {
      ...this.startOptions(endpoint),
      signal: endpointGone,
      signalArgs: [attempt, verificationRevision],
    });
  }

  /** The endpoint's incident, if one is open. */
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

  private startOptions({ account_id, endpoint_id, host }: NamedEndpoint) {
    const { taskQueue, disableAfterMs, probeIntervalMs } = this.settings;
    const input: EndpointIncidentInput = {
      endpoint: { account_id, endpoint_id },
      disable_after_ms: disableAfterMs,
      probe_interval_ms: probeIntervalMs,
      version: 3,
    };
    return {
      workflowId: incidentWorkflowId(account_id, endpoint_id),
      taskQueue,
      args: [input] as [EndpointIncidentInput],
      staticSummary: endpointSummary('incident', { account_id, endpoint_id, host }),
      typedSearchAttributes: endpointAttributes(account_id, endpoint_id),
    };
  }

  private remember(endpointId: string, entry: Reported): Reported {
    this.known.set(endpointId, entry);
    dropOldest(this.known, MAX_REMEMBERED);
    return entry;
  }

  private forget(endpointId: string): void {
    clearTimeout(this.known.get(endpointId)?.timer);
    this.known.delete(endpointId);
  }
}

function longestWait({ reported, unreported }: Reported): number {
  if (reported >= BACKOFF_AFTER_FAILURES) return REPORT_MANY_MS;
  return reported + unreported >= REPORT_SOON_AFTER ? REPORT_SOON_MS : REPORT_FEW_MS;
}

/** The report of what has not been reported yet; from now on it has been. */
function take(entry: Reported): FailureReport {
  const { unreported: count, said, at } = entry;
  clearTimeout(entry.timer);
  entry.timer = undefined;
  entry.reported += count;
  entry.unreported = 0;
  return { count, said, at: new Date(at).toISOString() };
}
