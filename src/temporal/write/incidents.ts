import type { Client } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import type { endpointIncident } from '../../../workflows/index.js';
import type { EndpointIncidentInput } from '../../../workflows/inputs.js';
import { attemptFailed, attemptSucceeded, endpointGone } from '../../../workflows/messages.js';
import { roomFor } from '../../domain/basics/bounded-memory.js';
import { withTimeout } from '../../domain/basics/with-timeout.js';
import { type FailingMark, opened } from '../../domain/endpoint/breaker/circuit-breaker.js';
import type { EndpointConditions } from '../../domain/endpoint/breaker/endpoint-conditions.js';
import type { FailureCount } from '../../domain/endpoint/breaker/failure-count.js';
import {
  type FailureReport,
  incidentIn,
  type KnownIncident,
  type OpenIncident,
} from '../../domain/endpoint/breaker/incident.js';
import type { EndpointKey } from '../../domain/endpoint/endpoint-key.js';
import { GiveWay } from '../../domain/endpoint/give-way.js';
import { endpointAttributes } from '../../domain/ledger/search-attributes.js';
import { endpointSummary, type NamedEndpoint } from '../../domain/ledger/summaries.js';
import { incidentWorkflowId } from '../../domain/ledger/workflow-ids.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import { type Timings, timingsOfInput } from '../../domain/timings.js';
import { unlessGone } from '../errors.js';
import { unlessAway } from '../read/unless-away.js';
import { describeExecution } from '../read/visibility/visibility.js';
import { PacedQueue } from './paced-queue.js';

export interface IncidentOptions {
  client: Client;
  taskQueue: string;
  /** Without a success for so long, an endpoint is disabled, milliseconds. */
  disableAfterMs: number;
  /** The wait before the second probe, milliseconds; it doubles from one to the next. */
  probeIntervalMs: number;
  timings: Timings;
  /** Stores the circuit breaker of an endpoint. */
  mark(endpoint: EndpointKey, mark: FailingMark): Promise<void>;
}

/**
 * The most reports of failures in a period of {@link Timings}: 40 a second, and fewer where Temporal is busy. Thousands
 * of endpoints may begin to fail at once, each with an incident of its own, and new events come first. A worker would
 * also drop the oldest of its workflows in memory for each of these, even one that waits for an attempt in its first
 * task, which would be made again.
 */
export const MOST_FAILURE_REPORTS = 10;

/** The reports of an endpoint's failures. */
interface Reporting {
  /** The report that waits for its turn or is in flight. It takes along what comes before it is sent. */
  sending?: Promise<boolean> | undefined;
  /** The circuit breaker is being stored. */
  opening?: Promise<void>;
  /** Sends what is left, at a time by `performance.now()`. */
  timer?: NodeJS.Timeout | undefined;
  due: number;
}

/** A success to be reported. */
interface Success {
  endpoint: NamedEndpoint;
  /** Failures that were counted before it. */
  failures: FailureCount | undefined;
  /** Whether this very success was reported; if not, another one is known that was. */
  isSent: boolean;
}

/** Opens, feeds and reads the incidents of endpoints. */
export class Incidents {
  private readonly settings: IncidentOptions;
  private readonly conditions: EndpointConditions;
  private readonly reportings = new WeakMap<FailureCount, Reporting>();
  /**
   * Whether an incident was open: a success is not reported again while that is known, unless a failure came between.
   */
  private readonly succeeding: LRUCache<string, boolean, Success>;
  /** Reports of successes under way. */
  private readonly successes = new Set<Promise<boolean>>();
  /** Limits reports in flight to Temporal. */
  private readonly limit = pLimit(8);
  private readonly queue: PacedQueue;
  private readonly giveWay = new GiveWay();

  /** @param conditions what this process knows of endpoints */
  constructor(settings: IncidentOptions, conditions: EndpointConditions) {
    const { timings } = settings;
    this.settings = settings;
    this.conditions = conditions;
    this.succeeding = new LRUCache({
      ...roomFor(10_000),
      ttl: timings.success_known_ms,
      ignoreFetchAbort: true,
      fetchMethod: (_id, _known, { context }) => {
        context.isSent = true;
        const report = this.sendSuccess(context).finally(() => this.successes.delete(report));
        this.successes.add(report);
        return report;
      },
    });
    this.queue = new PacedQueue(MOST_FAILURE_REPORTS, timings.failure_reports_ms);
  }

  /**
   * Reports a failed attempt, unless it began before one that has succeeded: opens the endpoint's incident, or counts
   * in it. Cheap if there are many.
   *
   * @param began by the clock of this process's {@link sharedNow}
   * @param attempt `attemptName`, if it is known
   * @param isMarked the endpoint was marked as failing when the attempt began
   */
  async failed(
    endpoint: NamedEndpoint,
    said: string,
    began: number,
    attempt?: string,
    isMarked = false,
  ): Promise<void> {
    const { endpoint_id } = endpoint;
    const failures = this.conditions.of(endpoint_id).failed(said, attempt, began, isMarked, sharedNow());
    if (!failures) return;
    this.succeeding.delete(endpoint_id);
    if (failures.opensBreaker) this.openBreaker(endpoint, failures);
    if (failures.isUrgent) this.queue.promote(endpoint_id);
    if (!this.reportingOf(failures).sending) await this.reportNext(endpoint, failures);
  }

  /** The incident does so later: until then, all that is accepted would be attempted. */
  private openBreaker(endpoint: NamedEndpoint, failures: FailureCount): void {
    const { probeIntervalMs, timings, mark } = this.settings;
    const { account_id, endpoint_id } = endpoint;
    const opening = mark({ account_id, endpoint_id }, opened(failures.since, probeIntervalMs, timings));
    // If it cannot be stored, the incident does it.
    this.reportingOf(failures).opening = opening.catch(() => {});
  }

  private async reportNext(endpoint: NamedEndpoint, failures: FailureCount): Promise<void> {
    const waitMs = failures.reportWaitMs(this.settings);
    if (waitMs > 0) this.reportLater(endpoint, failures, waitMs);
    else await this.report(endpoint, failures, (report) => this.open(endpoint, failures.since, report));
  }

  /** Opens the endpoint's incident, or counts in it. */
  private open(endpoint: NamedEndpoint, since: number, report: FailureReport): Promise<unknown> {
    return this.workflows.signalWithStart<typeof endpointIncident, [FailureReport]>('endpointIncident', {
      ...this.startOptions(endpoint, since),
      signal: attemptFailed,
      signalArgs: [report],
    });
  }

  private reportLater(endpoint: NamedEndpoint, failures: FailureCount, waitMs: number): void {
    const reporting = this.reportingOf(failures);
    const due = performance.now() + waitMs;
    if (reporting.timer && reporting.due <= due) return;
    clearTimeout(reporting.timer);
    reporting.due = due;
    reporting.timer = setTimeout(() => {
      reporting.timer = undefined;
      // It only counts in an open incident: the endpoint may have recovered, as another process knows. But a circuit
      // breaker that was opened meanwhile needs one.
      const count = (report: FailureReport) =>
        report.opens_breaker
          ? this.open(endpoint, failures.since, report)
          : this.handle(endpoint).signal(attemptFailed, report);
      const isOver = reporting.sending || failures.isOver;
      if (!isOver) this.report(endpoint, failures, count).catch(() => {});
    }, waitMs).unref();
  }

  private async report(
    endpoint: NamedEndpoint,
    failures: FailureCount,
    send: (report: FailureReport) => Promise<unknown>,
  ): Promise<void> {
    const reporting = this.reportingOf(failures);
    reporting.sending = this.sendInTurn(endpoint, failures, send);
    try {
      if (!(await reporting.sending)) return;
    } catch (error) {
      failures.end();
      throw error;
    } finally {
      reporting.sending = undefined;
    }
    if (failures.isBehind) await this.reportNext(endpoint, failures);
  }

  /**
   * Sends what has not been reported as soon as the pace allows it.
   *
   * @returns false if the endpoint has recovered by then, or the process stops
   */
  private async sendInTurn(
    endpoint: NamedEndpoint,
    failures: FailureCount,
    send: (report: FailureReport) => Promise<unknown>,
  ): Promise<boolean> {
    const turn = this.queue.wait(endpoint.endpoint_id);
    if (failures.isUrgent) this.queue.promote(endpoint.endpoint_id);
    if (!(await turn)) return false;
    return this.limit(async () => {
      if (failures.isOver) return false;
      const reporting = this.reportingOf(failures);
      clearTimeout(reporting.timer);
      reporting.timer = undefined;
      const began = performance.now();
      await send(failures.takeReport(sharedNow()));
      this.queue.rest(this.giveWay.restAfter(performance.now() - began));
      return !failures.isOver;
    });
  }

  private reportingOf(failures: FailureCount): Reporting {
    const reporting = this.reportings.get(failures) ?? { due: 0 };
    this.reportings.set(failures, reporting);
    return reporting;
  }

  /**
   * Reports an attempt that succeeded, if its endpoint may have been failing.
   *
   * @param began milliseconds since the epoch
   * @param isMarked the endpoint was marked as failing when the attempt began: another process may have opened an
   * incident since this one found none
   * @param isFirst it was its delivery's first attempt: this process has seen all failures that it knows of
   * @returns whether an incident was open
   */
  async succeeded(
    endpoint: NamedEndpoint,
    began: number,
    isMarked = false,
    isFirst = false,
  ): Promise<boolean> {
    const { endpoint_id } = endpoint;
    const failures = this.conditions.of(endpoint_id).succeeded(began);
    this.queue.leave(endpoint_id);
    if (isFirst && !isMarked && !failures) return false;
    const context: Success = { endpoint, failures, isSent: false };
    const isOpen = await this.succeeding.fetch(endpoint_id, { context });
    if (isOpen || context.isSent || !isMarked) return isOpen ?? false;
    return (await this.succeeding.fetch(endpoint_id, { context, forceRefresh: true })) ?? false;
  }

  /** The incident hears before of failures that had deliveries wait: it releases nothing if it knows of too few. */
  private async sendSuccess({ endpoint, failures }: Success): Promise<boolean> {
    const { sending, opening } = failures ? this.reportingOf(failures) : {};
    await sending?.catch(() => false);
    // The end of the incident closes the circuit breaker.
    await opening;
    return this.limit(async () => {
      if (failures?.isUrgent) await this.open(endpoint, failures.since, failures.takeReport(sharedNow()));
      const signal = this.handle(endpoint).signal(attemptSucceeded);
      return (await unlessGone(signal.then(() => true))) ?? false;
    });
  }

  /** Reports that the endpoint answered 410 Gone, as it was at a version. */
  async gone(endpoint: NamedEndpoint, attempt: string, verificationRevision: number): Promise<void> {
    await this.workflows.signalWithStart<typeof endpointIncident, [string, number]>('endpointIncident', {
      ...this.startOptions(endpoint, sharedNow()),
      signal: endpointGone,
      signalArgs: [attempt, verificationRevision],
    });
  }

  /** The open incident of an endpoint with this mark. While Temporal is away, the mark alone tells of it. */
  async of(endpoint: EndpointKey, mark: FailingMark | undefined): Promise<KnownIncident | undefined> {
    return mark && unlessAway(this.settings.client, () => this.get(endpoint), incidentIn(mark));
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
   * Drops the reports of failures that wait: the next failure of each endpoint is reported by whichever process sees
   * it. Sends those of successes, which may be the last ones for long, as far as there is time: 3 s.
   */
  async stop(): Promise<void> {
    this.queue.stop();
    await withTimeout(3_000, Promise.allSettled(this.successes)).catch(() => {});
  }

  private get workflows() {
    return this.settings.client.workflow;
  }

  private handle({ account_id, endpoint_id }: EndpointKey) {
    return this.workflows.getHandle(incidentWorkflowId(account_id, endpoint_id));
  }

  /** @param since the first failure, by {@link sharedNow} */
  private startOptions({ account_id, endpoint_id, host }: NamedEndpoint, since: number) {
    const { taskQueue, disableAfterMs, probeIntervalMs, timings } = this.settings;
    const input: EndpointIncidentInput = {
      endpoint: { account_id, endpoint_id },
      disable_after_ms: disableAfterMs,
      probe_interval_ms: probeIntervalMs,
      failing_for_ms: Math.max(sharedNow() - since, 0),
      ...timingsOfInput(timings),
    };
    return {
      workflowId: incidentWorkflowId(account_id, endpoint_id),
      taskQueue,
      args: [input] as [EndpointIncidentInput],
      staticSummary: endpointSummary('incident', { account_id, endpoint_id, host }),
      typedSearchAttributes: endpointAttributes(account_id, endpoint_id),
      // Behind the tasks of deliveries, which have the middle one, if there is a backlog.
      priority: { priorityKey: 4 },
    };
  }
}
