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
import { dropOldest, roomFor } from '../../domain/basics/bounded-memory.js';
import { withTimeout } from '../../domain/basics/with-timeout.js';
import type { EndpointKey } from '../../domain/delivery/delivery.js';
import { GiveWay } from '../../domain/endpoint/give-way.js';
import {
  BACKOFF_AFTER_FAILURES,
  type FailingMark,
  type OpenIncident,
  probeWait,
} from '../../domain/endpoint/incident.js';
import { endpointAttributes } from '../../domain/ledger/search-attributes.js';
import { endpointSummary, type NamedEndpoint } from '../../domain/ledger/summaries.js';
import { incidentWorkflowId } from '../../domain/ledger/workflow-ids.js';
import { TIMINGS, type Timings, timingsOfInput } from '../../domain/timings.js';
import { describeExecution } from '../read/visibility/visibility.js';
import { PacedQueue } from './paced-queue.js';

export interface IncidentSettings {
  client: Client;
  taskQueue: string;
  /** Without a success for so long, an endpoint is disabled, milliseconds. */
  disableAfterMs: number;
  /** The wait before the second probe, milliseconds; it doubles from one to the next. */
  probeIntervalMs: number;
  /** Absent: as usual. */
  timings?: Timings;
}

/** From so many failures on, they are reported soon. */
const REPORT_SOON_AFTER = BACKOFF_AFTER_FAILURES / 2;
/** Nothing is kept for longer than this part of the time between probes. */
const REPORTS_PER_PROBE = 2;
/** How long a process that stops sends reports of successes, milliseconds. */
const STOP_LIMIT_MS = 3_000;
/** So long after the report that has deliveries wait, the endpoint's mark says so at the latest, even if the machine is busy. Milliseconds. */
export const MARKED_AFTER_MS = 3_000;
/** The most reports in flight to Temporal. */
const REPORTS_IN_FLIGHT = 8;
/**
 * The most reports of failures in a period of {@link Timings}: 40 a second, and fewer where Temporal is busy. Thousands of endpoints may begin to fail at once, each
 * with an incident of its own, and new events come first. A worker would also drop the oldest of its workflows in memory for each of
 * these, even one that waits for an attempt in its first task, which would be made again.
 */
export const MOST_FAILURE_REPORTS = 10;
/** Of Temporal, for the workflow tasks of incidents: behind those of deliveries, which have the middle one, if there is a backlog. */
const PRIORITY_KEY = 4;
/** Endpoints whose reports are remembered; beyond, the oldest is forgotten and its next failure is reported like a first one. */
const MAX_REMEMBERED = 10_000;

/** What a process has reported of an endpoint's failures, and what it has not. */
interface Reported {
  /** Reported so far. */
  reported: number;
  /** Not reported yet. */
  unreported: number;
  /** The first failure. Milliseconds since the epoch. */
  since: number;
  /** When there were enough of them that the incident has deliveries wait. */
  manySince?: number;
  /** Whether a report waits or is in flight. It takes along what comes before it is sent. */
  isReporting: boolean;
  /** The report that was sent last. Rejects if it has not arrived. */
  sent?: Promise<unknown>;
  /** The last failure, and its attempt. */
  said: string;
  attempt: string | undefined;
  at: number;
  /** Reports what is left, at a time: milliseconds since the epoch. */
  timer?: NodeJS.Timeout | undefined;
  due: number;
}

/** Opens, feeds and reads the incidents of endpoints. */
export class Incidents {
  private readonly settings: IncidentSettings;
  private readonly timings: Timings;
  private readonly known = new Map<string, Reported>();
  /** A success is not reported again while one is known, unless a failure came between. */
  private readonly succeeding: LRUCache<string, Promise<boolean>>;
  /** When the attempts began that have succeeded, the latest of each endpoint. Milliseconds since the epoch. */
  private readonly successes = new LRUCache<string, number>(roomFor(MAX_REMEMBERED));
  private readonly limit = pLimit(REPORTS_IN_FLIGHT);
  private readonly queue: PacedQueue;
  private readonly giveWay = new GiveWay();

  constructor(settings: IncidentSettings) {
    this.settings = settings;
    this.timings = settings.timings ?? TIMINGS;
    this.succeeding = new LRUCache({ ...roomFor(MAX_REMEMBERED), ttl: this.timings.success_known_ms });
    this.queue = new PacedQueue(MOST_FAILURE_REPORTS, this.timings.failure_reports_ms);
  }

  /**
   * Reports a failed attempt: opens the endpoint's incident, or counts in it. Cheap if there are many. An attempt that began before one that
   * has succeeded says nothing of the endpoint as it is now: many may time out just after its return.
   *
   * @param began milliseconds since the epoch
   * @param attempt `attemptName`, if it is known
   */
  async failed(endpoint: NamedEndpoint, said: string, began: number, attempt?: string): Promise<void> {
    if (began < (this.successes.get(endpoint.endpoint_id) ?? 0)) return;
    const at = Date.now();
    this.succeeding.delete(endpoint.endpoint_id);
    const known = this.known.get(endpoint.endpoint_id);
    if (!known) {
      const entry = { reported: 0, unreported: 1, said, attempt, at, since: at, due: 0, isReporting: false };
      await this.report(endpoint, this.remember(endpoint.endpoint_id, entry));
      return;
    }
    Object.assign(known, { unreported: known.unreported + 1, said, attempt, at });
    if (areMany(known)) known.manySince ??= at;
    if (isUrgent(known)) this.queue.hurry(endpoint.endpoint_id);
    if (!known.isReporting) await this.reportNext(endpoint, known);
  }

  /**
   * How an endpoint fails whose deliveries are about to wait: this process has seen enough failures for that, and the mark that the incident
   * makes does not say so yet. Until then, all that is accepted would be attempted.
   */
  mark(endpointId: string): FailingMark | undefined {
    const { since = 0, manySince = 0 } = this.known.get(endpointId) ?? {};
    if (Date.now() - manySince > MARKED_AFTER_MS) return undefined;
    const probedAt = since + probeWait(0, this.settings.probeIntervalMs, this.timings);
    return { since: new Date(since).toISOString(), backoff_until: new Date(probedAt).toISOString() };
  }

  private async reportNext(endpoint: NamedEndpoint, known: Reported): Promise<void> {
    if (isUrgent(known)) await this.report(endpoint, known);
    else this.reportLater(endpoint, known);
  }

  /** Opens the endpoint's incident, or counts in it. */
  private async report(endpoint: NamedEndpoint, known: Reported): Promise<void> {
    await this.send(endpoint, known, (report) => this.signalFailures(endpoint, known.since, report));
  }

  private signalFailures(endpoint: NamedEndpoint, since: number, report: FailureReport): Promise<unknown> {
    return this.workflows.signalWithStart<typeof endpointIncident, [FailureReport]>('endpointIncident', {
      ...this.startOptions(endpoint, since),
      signal: attemptFailed,
      signalArgs: [report],
    });
  }

  private reportLater(endpoint: NamedEndpoint, known: Reported): void {
    const wait = Math.min(
      longestWait(known, this.timings),
      this.settings.probeIntervalMs / REPORTS_PER_PROBE,
    );
    const due = Date.now() + wait;
    if (known.timer && known.due <= due) return;
    clearTimeout(known.timer);
    known.due = due;
    known.timer = setTimeout(() => {
      known.timer = undefined;
      // It only counts in an open incident: the endpoint may have recovered, as another process knows.
      const send = (report: FailureReport) => this.handle(endpoint).signal(attemptFailed, report);
      if (!known.isReporting) this.send(endpoint, known, send).catch(() => {});
    }, wait).unref();
  }

  /** Sends what has not been reported as soon as the pace allows it, unless the endpoint has recovered by then. */
  private async send(
    endpoint: NamedEndpoint,
    known: Reported,
    send: (report: FailureReport) => Promise<unknown>,
  ): Promise<void> {
    const isCurrent = () => this.known.get(endpoint.endpoint_id) === known;
    known.isReporting = true;
    try {
      const turn = this.queue.wait(endpoint.endpoint_id);
      if (isUrgent(known)) this.queue.hurry(endpoint.endpoint_id);
      if (!(await turn)) return;
      await this.limit(async () => {
        if (!isCurrent()) return;
        const began = performance.now();
        known.sent = send(take(known));
        await known.sent;
        this.queue.rest(this.giveWay.restAfter(performance.now() - began));
      });
    } catch (error) {
      if (isCurrent()) this.forget(endpoint.endpoint_id);
      throw error;
    } finally {
      known.isReporting = false;
    }
    if (known.unreported > 0 && isCurrent()) await this.reportNext(endpoint, known);
  }

  /**
   * Reports an attempt that succeeded at an endpoint that may have been failing. The incident hears before of failures that had deliveries
   * wait: it releases nothing if it knows of too few.
   *
   * @param began milliseconds since the epoch
   * @param isMarked the endpoint was marked as failing when the attempt began: another process may have opened an incident since this one
   *   found none
   * @returns whether an incident was open
   */
  async succeeded(endpoint: NamedEndpoint, began: number, isMarked = false): Promise<boolean> {
    const { endpoint_id } = endpoint;
    this.successes.set(endpoint_id, Math.max(this.successes.get(endpoint_id) ?? 0, began));
    const failures = this.known.get(endpoint_id);
    this.forget(endpoint_id);
    const known = this.succeeding.get(endpoint_id);
    if (!known) return this.reportSuccess(endpoint, failures);
    if ((await known) || !isMarked) return known;
    const latest = this.succeeding.get(endpoint_id);
    return latest && latest !== known ? latest : this.reportSuccess(endpoint);
  }

  /** @param failures that came before the success, if it is the first one since */
  private reportSuccess(endpoint: NamedEndpoint, failures?: Reported): Promise<boolean> {
    const { endpoint_id } = endpoint;
    const report = this.limit(async () => {
      if (failures && areMany(failures)) {
        await failures.sent?.catch(() => {});
        if (isUrgent(failures)) await this.signalFailures(endpoint, failures.since, take(failures));
      }
      return this.signalSuccess(endpoint);
    });
    const isLatest = () => this.succeeding.peek(endpoint_id) === report;
    // It may wait its turn for longer than it is known: those that come meanwhile join it.
    this.succeeding.set(endpoint_id, report, { ttl: 0 });
    report.then(
      () => isLatest() && this.succeeding.set(endpoint_id, report),
      () => isLatest() && this.succeeding.delete(endpoint_id),
    );
    return report;
  }

  private async signalSuccess(endpoint: EndpointKey): Promise<boolean> {
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
      ...this.startOptions(endpoint, Date.now()),
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

  /**
   * Drops the reports of failures that wait: the next failure of each endpoint is reported by whichever process sees it. Sends those of
   * successes, which may be the last ones for long, as far as there is time.
   */
  async stop(): Promise<void> {
    this.queue.stop();
    await withTimeout(STOP_LIMIT_MS, Promise.allSettled(this.succeeding.values())).catch(() => {});
  }

  private get workflows() {
    return this.settings.client.workflow;
  }

  private handle({ account_id, endpoint_id }: EndpointKey) {
    return this.workflows.getHandle(incidentWorkflowId(account_id, endpoint_id));
  }

  /** @param since milliseconds since the epoch */
  private startOptions({ account_id, endpoint_id, host }: NamedEndpoint, since: number) {
    const { taskQueue, disableAfterMs, probeIntervalMs } = this.settings;
    const input: EndpointIncidentInput = {
      endpoint: { account_id, endpoint_id },
      disable_after_ms: disableAfterMs,
      probe_interval_ms: probeIntervalMs,
      since: new Date(since).toISOString(),
      ...timingsOfInput(this.timings),
    };
    return {
      workflowId: incidentWorkflowId(account_id, endpoint_id),
      taskQueue,
      args: [input] as [EndpointIncidentInput],
      staticSummary: endpointSummary('incident', { account_id, endpoint_id, host }),
      typedSearchAttributes: endpointAttributes(account_id, endpoint_id),
      priority: { priorityKey: PRIORITY_KEY },
    };
  }

  private remember(endpointId: string, entry: Reported): Reported {
    this.known.set(endpointId, entry);
    dropOldest(this.known, MAX_REMEMBERED);
    return entry;
  }

  private forget(endpointId: string): void {
    this.queue.leave(endpointId);
    clearTimeout(this.known.get(endpointId)?.timer);
    this.known.delete(endpointId);
  }
}

/** Whether there are so many failures that deliveries wait. */
function areMany({ reported, unreported }: Reported): boolean {
  return reported + unreported >= BACKOFF_AFTER_FAILURES;
}

/** Whether deliveries are about to wait, and the incident has not heard that yet. */
function isUrgent(known: Reported): boolean {
  return known.reported < BACKOFF_AFTER_FAILURES && areMany(known);
}

function longestWait({ reported, unreported }: Reported, timings: Timings): number {
  if (reported >= BACKOFF_AFTER_FAILURES) return timings.report_many_ms;
  return reported + unreported >= REPORT_SOON_AFTER ? timings.report_soon_ms : timings.report_few_ms;
}

/** The report of what has not been reported yet; from now on it has been. */
function take(entry: Reported): FailureReport {
  const { unreported: count, said, attempt, at } = entry;
  clearTimeout(entry.timer);
  entry.timer = undefined;
  entry.reported += count;
  entry.unreported = 0;
  return { count, said, at: new Date(at).toISOString(), ...(attempt !== undefined && { attempt }) };
}
