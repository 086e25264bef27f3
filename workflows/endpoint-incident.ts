import {
  allHandlersFinished,
  condition,
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import { formatDuration } from '../src/domain/basics/duration.js';
import { GONE } from '../src/domain/endpoint/endpoint.js';
import {
  BACKOFF_AFTER_FAILURES,
  type IncidentOutcome,
  type OpenIncident,
  probeWait,
} from '../src/domain/endpoint/incident.js';
import type { EndpointIncidentInput, EndpointIncidentResult, IncidentState } from './inputs.js';
import { attemptFailed, attemptSucceeded, endpointGone, type FailureReport } from './messages.js';

const { markEndpoint, disableEndpoint, emitOperationalEvent, releaseEndpoint, probeEndpoint } =
  proxyActivities<Activities>({
    startToCloseTimeout: '1m',
    retry: { initialInterval: '1s', maximumInterval: '1m' },
  });

/**
 * An endpoint that fails, from its first failure to its next success, or to its end: it counts, has new deliveries wait when it is too
 * many, lets one of them through now and then to see, and disables the endpoint where it has failed for too long. It exists only as long
 * as the endpoint is failing. Each transition is an event that the account can subscribe to.
 */
export async function endpointIncident(input: EndpointIncidentInput): Promise<EndpointIncidentResult> {
  const incident = new Incident(input);
  const outcome = await incident.run();
  return { outcome, ...incident.open };
}

class Incident {
  private readonly input: EndpointIncidentInput;
  private readonly state: IncidentState;
  private reports: FailureReport[] = [];
  private succeeded = false;
  /** Attempts that were answered 410. */
  private readonly gone: string[] = [];

  constructor(input: EndpointIncidentInput) {
    this.input = input;
    const now = new Date().toISOString();
    this.state = input.state ?? {
      id: workflowInfo().runId,
      since: now,
      failures: 0,
      last_failure: '',
      last_failure_at: now,
      probes: 0,
      announced: false,
    };
    setHandler(attemptFailed, (report) => {
      this.reports.push(report);
      this.succeeded = false;
    });
    setHandler(attemptSucceeded, () => {
      this.succeeded = true;
    });
    setHandler(endpointGone, (attempt) => {
      this.gone.push(attempt);
    });
  }

  get open(): OpenIncident {
    const { since, failures, last_failure, last_failure_at, next_probe_at } = this.state;
    const disable_at = new Date(this.disableAt).toISOString();
    const probe = next_probe_at === undefined ? {} : { next_probe_at };
    return { since, failures, last_failure, last_failure_at, ...probe, disable_at };
  }

  async run(): Promise<IncidentOutcome> {
    for (;;) {
      if (this.gone.length > 0) return this.disable(GONE, this.gone);
      this.takeReports();
      if (!this.state.announced && !(await this.announce())) return this.supersede();
      if (this.succeeded) return this.recover();
      if (Date.now() >= this.disableAt) return this.judge();
      if (this.isDue(this.state.next_probe_at) && !(await this.probe())) return this.supersede();
      if (workflowInfo().continueAsNewSuggested) await this.carryOn();
      this.show();
      const wakeAt = Math.min(this.disableAt, Date.parse(this.state.next_probe_at ?? '') || Infinity);
      await condition(() => this.stirred, Math.max(wakeAt - Date.now(), 1), {
        summary: `failing since ${this.state.since}`,
      });
    }
  }

  private get stirred(): boolean {
    return this.gone.length > 0 || this.succeeded || this.reports.length > 0;
  }

  private get disableAt(): number {
    return Date.parse(this.state.since) + this.input.disable_after_ms;
  }

  private isDue(time: string | undefined): boolean {
    return time !== undefined && Date.now() >= Date.parse(time);
  }

  private takeReports(): void {
    for (const { count, said, at } of this.reports) {
      this.state.failures += count;
      this.state.last_failure = said;
      this.state.last_failure_at = at;
    }
    this.reports = [];
    if (this.state.failures >= BACKOFF_AFTER_FAILURES && this.state.next_probe_at === undefined)
      this.state.next_probe_at = new Date().toISOString();
  }

  /** @returns whether the endpoint is active, so that there is something to watch */
  private async announce(): Promise<boolean> {
    const status = await this.mark();
    if (status !== 'active') return false;
    const { since, failures, last_failure } = this.state;
    await this.emit('endpoint.failing', since, { since, failures, last_failure });
    this.state.announced = true;
    return true;
  }

  /** Lets one waiting delivery through; until the next probe the others wait on. */
  private async probe(): Promise<boolean> {
    const wait = probeWait(this.state.probes, this.input.probe_interval_ms);
    this.state.next_probe_at = new Date(Date.now() + wait).toISOString();
    this.state.probes += 1;
    if ((await this.mark()) !== 'active') return false;
    await probeEndpoint(this.input.endpoint);
    return true;
  }

  private async recover(): Promise<IncidentOutcome> {
    const { since, failures } = this.state;
    const recovered_at = new Date().toISOString();
    await markEndpoint({ ...this.input.endpoint, failing: null });
    await this.emit('endpoint.recovered', recovered_at, { since, recovered_at, failures });
    await releaseEndpoint(this.input.endpoint);
    return this.end('recovered');
  }

  /** The time is up: the endpoint is disabled if its failures span at least half of it; a single old failure is no proof. */
  private async judge(): Promise<IncidentOutcome> {
    const { since, last_failure_at, last_failure } = this.state;
    const span = Date.parse(last_failure_at) - Date.parse(since);
    if (span < this.input.disable_after_ms / 2) {
      await markEndpoint({ ...this.input.endpoint, failing: null });
      return this.end('lapsed');
    }
    const period = formatDuration(this.input.disable_after_ms);
    return this.disable(`It failed for ${period} without a success; at last it ${last_failure}.`, [
      this.state.id,
    ]);
  }

  /** @param causes what would disable the endpoint; it is said once, by the one that did */
  private async disable(reason: string, causes: readonly string[]): Promise<IncidentOutcome> {
    const disabled_at = new Date().toISOString();
    const { since } = this.state;
    let didIt = false;
    for (const cause of causes) didIt ||= await disableEndpoint({ ...this.input.endpoint, reason, cause });
    if (!didIt) return this.end('superseded');
    await this.emit('endpoint.disabled', disabled_at, { since, disabled_at, reason });
    return this.end('disabled');
  }

  private async supersede(): Promise<IncidentOutcome> {
    await markEndpoint({ ...this.input.endpoint, failing: null });
    return this.end('superseded');
  }

  private mark(): Promise<string> {
    const { since, next_probe_at } = this.state;
    const failing = { since, ...(next_probe_at !== undefined && { backoff_until: next_probe_at }) };
    return markEndpoint({ ...this.input.endpoint, failing });
  }

  private async emit(kind: string, at: string, facts: Record<string, unknown>): Promise<void> {
    const { account_id, endpoint_id } = this.input.endpoint;
    const transition = `${this.state.id}:${kind}`;
    await emitOperationalEvent({ account_id, kind, at, transition, payload: { endpoint_id, ...facts } });
  }

  /** Failures that were reported meanwhile are of a new incident, with an id of its own. */
  private async end(outcome: IncidentOutcome): Promise<IncidentOutcome> {
    await condition(allHandlersFinished);
    if (outcome === 'recovered' && this.reports.length > 0) {
      const { state: _, ...input } = this.input;
      const now = new Date().toISOString();
      const id = `${this.state.id}:${now}`;
      const fresh = { failures: 0, last_failure: '', last_failure_at: now, probes: 0, announced: false };
      const state = this.sum({ id, since: now, ...fresh });
      return continueAsNew<typeof endpointIncident>({ ...input, state });
    }
    setCurrentDetails(outcome);
    return outcome;
  }

  private async carryOn(): Promise<void> {
    await condition(allHandlersFinished);
    if (this.gone.length > 0 || this.succeeded) return;
    await continueAsNew<typeof endpointIncident>({ ...this.input, state: this.sum(this.state) });
  }

  private sum(state: IncidentState): IncidentState {
    const last = this.reports.at(-1);
    const failures = this.reports.reduce((total, { count }) => total + count, state.failures);
    return { ...state, failures, ...(last && { last_failure: last.said, last_failure_at: last.at }) };
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
