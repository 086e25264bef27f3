import {
  condition,
  continueAsNew,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type { OperationalEvent } from '../../activities/endpoint/endpoint-incident.js';
import type { Activities } from '../../activities/index.js';
import { formatDuration } from '../../src/domain/basics/duration.js';
import { GONE } from '../../src/domain/endpoint/endpoint.js';
import {
  BACKOFF_AFTER_FAILURES,
  type FailingMark,
  type IncidentOutcome,
  type OpenIncident,
  probeWait,
} from '../../src/domain/endpoint/incident.js';
import { TIMINGS } from '../../src/domain/timings.js';
import { handleInOrder, on } from '../in-order.js';
import type { EndpointIncidentInput, EndpointIncidentResult, IncidentState } from '../inputs.js';
import { attemptFailed, attemptSucceeded, endpointGone, type FailureReport } from '../messages.js';

const {
  markEndpoint,
  disableEndpoint,
  emitOperationalEvent,
  releaseEndpoint,
  probeEndpoint,
  /** Not a local one: a signal that comes before the task has ended the workflow repeats the task, and its local activities as other events. */
  closeIncident,
} = proxyActivities<Activities>({
  startToCloseTimeout: '1m',
  retry: { initialInterval: '1s', maximumInterval: '1m' },
});

/** Many endpoints may begin to fail at once, so what every incident begins with must be cheap. */
const { openIncident } = proxyLocalActivities<Activities>({
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', maximumInterval: '1m' },
});

/**
 * The period in which an endpoint is failing, from its first failure to its next success. It counts failures, makes new deliveries wait when
 * there are many, probes the endpoint with one of them from time to time, and disables the endpoint if it has failed for too long. Each
 * transition is an event that the account can subscribe to.
 */
export async function endpointIncident(input: EndpointIncidentInput): Promise<EndpointIncidentResult> {
  const incident = new Incident(input);
  const outcome = await incident.run();
  const next = outcome === 'recovered' ? incident.successor() : undefined;
  if (next) return continueAsNew<typeof endpointIncident>(next);
  setCurrentDetails(outcome);
  return { outcome, ...incident.open };
}

/** What disables an endpoint: its name, and of what the endpoint was then, if that matters. */
interface DisableCause {
  cause: string;
  verification_revision?: number;
  /** The attempt that it is done because of, unless `cause` names it. */
  attempt?: string;
}

class Incident {
  private readonly input: EndpointIncidentInput;
  private readonly state: IncidentState;
  private reports: FailureReport[] = [];
  private succeeded = false;
  /** Attempts that were answered 410. */
  private readonly gone: DisableCause[] = [];

  constructor(input: EndpointIncidentInput) {
    this.input = input;
    // What is sent about the incident has the same id and time, however often a task is repeated.
    const now = workflowInfo().startTime.toISOString();
    this.state = input.state ?? {
      id: workflowInfo().runId,
      since: input.since,
      failures: 0,
      last_failure: '',
      last_failure_at: now,
      probes: 0,
      announced: false,
    };
    this.listen();
  }

  private listen(): void {
    const failed = (report: FailureReport) => {
      this.reports.push(report);
      this.succeeded = false;
    };
    const succeeded = () => {
      this.succeeded = true;
    };
    const gone = (cause: string, verification_revision?: number) => {
      this.gone.push({ cause, ...(verification_revision !== undefined && { verification_revision }) });
    };
    handleInOrder([on(attemptFailed, failed), on(attemptSucceeded, succeeded), on(endpointGone, gone)]);
  }

  get open(): OpenIncident {
    const { since, failures, last_failure, last_failure_at, next_probe_at } = this.state;
    const disable_at = new Date(this.disableAt).toISOString();
    const probe = this.isBackingOff && next_probe_at ? { next_probe_at } : {};
    return { since, failures, last_failure, last_failure_at, ...probe, disable_at };
  }

  async run(): Promise<IncidentOutcome> {
    for (;;) {
      if (this.gone.length > 0) {
        const outcome = await this.disable(GONE, this.gone);
        if (outcome === 'disabled' || !this.goesOnElsewhere) return outcome;
        this.gone.length = 0;
      }
      this.takeReports();
      if (!this.state.announced && !(await this.announce())) return this.supersede();
      if (this.succeeded) return this.recover();
      if (Date.now() >= this.disableAt) return this.judge();
      if (this.isProbeDue && !(await this.probe())) return this.supersede();
      if (this.beginsBackoff && !(await this.backOff())) return this.supersede();
      if (workflowInfo().continueAsNewSuggested && this.gone.length === 0 && !this.succeeded)
        return continueAsNew<typeof endpointIncident>({ ...this.input, state: this.sum(this.state) });
      this.show();
      const wakeAt = Math.min(
        this.disableAt,
        (this.isBackingOff && Date.parse(this.state.next_probe_at ?? '')) || Infinity,
      );
      await condition(() => this.stirred, Math.max(wakeAt - Date.now(), 1), {
        summary: `failing since ${this.state.since}`,
      });
    }
  }

  /** Whether there are failures to watch though an answer 410 has not disabled the endpoint, as it came from a former URL. */
  private get goesOnElsewhere(): boolean {
    const isCounting = this.state.failures > 0 || this.reports.length > 0;
    return isCounting && this.gone.every(({ verification_revision }) => verification_revision !== undefined);
  }

  private get stirred(): boolean {
    return this.gone.length > 0 || this.succeeded || this.reports.length > 0;
  }

  private get disableAt(): number {
    return Date.parse(this.state.since) + this.input.disable_after_ms;
  }

  /** While nothing waits for a probe, there is nothing to probe with. */
  private get isProbeDue(): boolean {
    const { next_probe_at } = this.state;
    return this.isBackingOff && next_probe_at !== undefined && Date.now() >= Date.parse(next_probe_at);
  }

  private takeReports(): void {
    Object.assign(this.state, this.sum(this.state));
    this.reports = [];
    this.state.next_probe_at ??= this.nextProbeAt();
  }

  private get isBackingOff(): boolean {
    return this.state.failures >= BACKOFF_AFTER_FAILURES;
  }

  private get beginsBackoff(): boolean {
    return this.isBackingOff && this.state.backs_off !== true;
  }

  private nextProbeAt(): string {
    const { probe_interval_ms, timings } = this.input;
    const waitMs = probeWait(this.state.probes, probe_interval_ms, { ...TIMINGS, ...timings });
    return new Date(Date.now() + waitMs).toISOString();
  }

  /** From now on, new deliveries wait until a probe succeeds. @returns whether the endpoint is active */
  private async backOff(): Promise<boolean> {
    this.state.backs_off = true;
    return (await this.mark()) === 'active';
  }

  /** @returns whether the endpoint is active, so that there is something to watch */
  private async announce(): Promise<boolean> {
    const { since, failures, last_failure } = this.state;
    const event = this.event('endpoint.failing', since, { since, failures, last_failure });
    if ((await openIncident({ ...this.input.endpoint, failing: this.failing, event })) !== 'active')
      return false;
    this.state.announced = true;
    return true;
  }

  /** Attempts one waiting delivery; the others wait. @returns whether the endpoint is active */
  private async probe(): Promise<boolean> {
    this.state.probes += 1;
    this.state.next_probe_at = this.nextProbeAt();
    this.state.backs_off = true;
    if ((await this.mark()) !== 'active') return false;
    await probeEndpoint(this.input.endpoint);
    return true;
  }

  private async recover(): Promise<IncidentOutcome> {
    const { since, failures } = this.state;
    const recovered_at = new Date().toISOString();
    const event = this.event('endpoint.recovered', recovered_at, { since, recovered_at, failures });
    // A single failure is no reason to make other deliveries' retries early.
    await closeIncident({ ...this.input.endpoint, event, release: this.isBackingOff });
    const isGone = this.gone.length > 0 && (await this.disable(GONE, this.gone)) === 'disabled';
    if (isGone) return 'disabled';
    await this.releaseWhatWaitedMeanwhile();
    return 'recovered';
  }

  /** Failures that came while the end was noted, and then a success: nobody else would release what had to wait because of them. */
  private async releaseWhatWaitedMeanwhile(): Promise<void> {
    while (this.succeeded && this.reportedFailures >= BACKOFF_AFTER_FAILURES) {
      this.reports = [];
      await releaseEndpoint({ ...this.input.endpoint, retries: true });
    }
  }

  /** The time is up: the endpoint is disabled if its failures span at least half of it; a single old failure is no proof. */
  private async judge(): Promise<IncidentOutcome> {
    const { since, last_failure_at, last_failure, last_attempt } = this.state;
    const span = Date.parse(last_failure_at) - Date.parse(since);
    if (span < this.input.disable_after_ms / 2) {
      await markEndpoint({ ...this.input.endpoint, failing: null });
      return 'lapsed';
    }
    const period = formatDuration(this.input.disable_after_ms);
    return this.disable(`It failed for ${period} without a success; the last attempt ${last_failure}.`, [
      { cause: this.state.id, ...(last_attempt !== undefined && { attempt: last_attempt }) },
    ]);
  }

  /** @param causes what would disable the endpoint; it is said once, by the one that did */
  private async disable(reason: string, causes: readonly DisableCause[]): Promise<IncidentOutcome> {
    const disabled_at = new Date().toISOString();
    const { since } = this.state;
    let didIt = false;
    for (const cause of causes) didIt ||= await disableEndpoint({ ...this.input.endpoint, reason, ...cause });
    if (!didIt) return 'superseded';
    await this.emit('endpoint.disabled', disabled_at, { since, disabled_at, reason });
    return 'disabled';
  }

  private async supersede(): Promise<IncidentOutcome> {
    await markEndpoint({ ...this.input.endpoint, failing: null });
    return 'superseded';
  }

  private get failing(): FailingMark {
    const { since, next_probe_at } = this.state;
    return { since, ...(this.isBackingOff && next_probe_at && { backoff_until: next_probe_at }) };
  }

  private mark(): Promise<string> {
    return markEndpoint({ ...this.input.endpoint, failing: this.failing });
  }

  private async emit(kind: string, at: string, facts: Record<string, unknown>): Promise<void> {
    await emitOperationalEvent(this.event(kind, at, facts));
  }

  private event(kind: string, at: string, facts: Record<string, unknown>): OperationalEvent {
    const { account_id, endpoint_id } = this.input.endpoint;
    const transition = `${this.state.id}:${kind}`;
    return { account_id, kind, at, transition, payload: { endpoint_id, ...facts } };
  }

  /**
   * The input of the incident that follows, if failures were reported while the recovery was noted, and no success after them: one with an
   * id of its own.
   */
  successor(): EndpointIncidentInput | undefined {
    if (this.reports.length === 0 || this.succeeded) return undefined;
    const { state: _, ...input } = this.input;
    const now = new Date().toISOString();
    const fresh = { failures: 0, last_failure: '', last_failure_at: now, probes: 0, announced: false };
    return { ...input, state: this.sum({ id: `${this.state.id}:${now}`, since: now, ...fresh }) };
  }

  private get reportedFailures(): number {
    return this.reports.reduce((total, { count }) => total + count, 0);
  }

  private sum(state: IncidentState): IncidentState {
    const last = this.reports.at(-1);
    const failures = state.failures + this.reportedFailures;
    if (!last) return { ...state, failures };
    const { said: last_failure, at: last_failure_at, attempt: last_attempt } = last;
    return {
      ...state,
      failures,
      last_failure,
      last_failure_at,
      ...(last_attempt !== undefined && { last_attempt }),
    };
  }

  private show(): void {
    const { open } = this;
    upsertMemo({ incident: open });
    const probe = open.next_probe_at ? ` Next probe at ${open.next_probe_at}.` : '';
    setCurrentDetails(
      `Failing since ${open.since}: ${open.failures} failures, the last ${open.last_failure}.${probe} Disabled at ${open.disable_at} unless it succeeds.`,
    );
  }
}
