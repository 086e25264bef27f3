import { formatDuration } from '../../basics/duration.js';
import type { OperationalEvent, OperationalKind } from '../../event/operational-event.js';
import { recordedTime } from '../../time/recorded-time.js';
import { TIMINGS, type Timings } from '../../timings.js';
import { GONE } from '../endpoint.js';
import type { EndpointKey } from '../endpoint-key.js';
import { BACKOFF_AFTER_FAILURES, type FailingMark, probeWait } from './circuit-breaker.js';
import type { FailureReport, IncidentOutcome, OpenIncident } from './incident.js';

export interface IncidentSettings {
  endpoint: EndpointKey;
  /** Without a success for so long, the endpoint is disabled, milliseconds. */
  disable_after_ms: number;
  /** The wait before the first of the later probes, milliseconds. */
  probe_interval_ms: number;
  timings?: Timings;
}

/**
 * State of an incident: enough for another run to carry on with it. All times are the workflow's. A Temporal payload.
 */
export interface IncidentState
  extends Pick<OpenIncident, 'since' | 'failures' | 'last_failure' | 'last_failure_at' | 'next_probe_at'> {
  /** Identifies the incident in all its runs. */
  id: string;
  /** The attempt of the last failure: `attemptName`. */
  last_attempt?: string;
  /** How many probes have been made. */
  probes: number;
  /** A process has opened the circuit breaker, by failures that the incident may not know all of. */
  breaker_opened?: true;
  /** The endpoint's mark says that new deliveries wait for a probe. */
  backs_off?: boolean;
  /** The account was notified that the endpoint is failing. */
  announced: boolean;
}

/** An incident that has just begun. @param now ISO 8601, UTC */
export function newIncident(id: string, since: string, now: string): IncidentState {
  return { id, since, failures: 0, last_failure: '', last_failure_at: now, probes: 0, announced: false };
}

/** Cause for which an endpoint is disabled: its name, and of what the endpoint was then, if that matters. */
export interface DisableCause {
  cause: string;
  verification_revision?: number;
  /** The attempt that it is done because of, unless `cause` names it. */
  attempt?: string;
}

/** Failures that were reported together. */
interface Failures extends Omit<FailureReport, 'ago_ms'> {
  /** When the last one was. ISO 8601, UTC. */
  at: string;
}

/** Next step of an incident. It has been done when the next step is asked for. */
export type IncidentStep =
  /** Mark the endpoint as failing and notify its account, if it is active: {@link IncidentMachine.marked}. */
  | { kind: 'open'; failing: FailingMark; event: OperationalEvent }
  /** Mark it so that new deliveries wait: {@link IncidentMachine.marked}. */
  | { kind: 'hold'; failing: FailingMark }
  /** Renew the mark ({@link IncidentMachine.marked}) and, if the endpoint is active, attempt a delivery that waits. */
  | { kind: 'probe'; failing: FailingMark }
  /** Nothing until a time, unless something is reported. Milliseconds since the epoch. */
  | { kind: 'wait'; until: number }
  /** The endpoint has recovered: remove the mark, notify the account, and release what waits, if anything had to. */
  | { kind: 'close'; release: boolean; event: OperationalEvent }
  /** Release what had to wait while the recovery was noted. */
  | { kind: 'release' }
  /** Disable the endpoint ({@link IncidentMachine.disabled}) and, if it was this that did it, notify the account. */
  | { kind: 'disable'; reason: string; cause: DisableCause; event: OperationalEvent }
  /** Remove the mark. */
  | { kind: 'unmark' }
  /**
   * Nothing more. `next`: the incident that follows, because the endpoint has failed again while its recovery was
   * noted.
   */
  | { kind: 'ended'; outcome: IncidentOutcome; next?: IncidentState };

/**
 * The period in which an endpoint is failing: what has been reported of it, and what comes next. Many failures have new
 * deliveries wait for a probe, which is asked for from time to time; a success ends the incident, and so does its time.
 * It knows nothing of Temporal; the workflow does what it asks for.
 */
export class IncidentMachine {
  readonly state: IncidentState;
  private readonly settings: IncidentSettings;
  /** Failures that have not been counted. */
  private reports: Failures[] = [];
  /** The latest report is of a success. */
  private hasSucceeded = false;
  /** Attempts that were answered 410. */
  private readonly gone: DisableCause[] = [];
  private phase: 'open' | 'closed' | 'timed_out' = 'open';
  /** How it ends once the mark is removed. */
  private ending: IncidentOutcome | undefined;
  private outcome: IncidentOutcome | undefined;
  /** The latest time that was waited for, milliseconds since the epoch. */
  private reached = Number.NEGATIVE_INFINITY;

  constructor(settings: IncidentSettings, state: IncidentState) {
    this.settings = settings;
    this.state = { ...state };
  }

  /** @param now when the report came, milliseconds since the epoch */
  failed({ ago_ms, ...report }: FailureReport, now: number): void {
    this.reports.push({ ...report, at: iso(now - ago_ms) });
    this.hasSucceeded = false;
  }

  succeeded(): void {
    this.hasSucceeded = true;
  }

  /**
   * The endpoint answered 410.
   *
   * @param cause the attempt
   * @param verification_revision since which the endpoint has had the URL that was attempted
   */
  answeredGone(cause: string, verification_revision: number): void {
    this.gone.push({ cause, verification_revision });
  }

  /**
   * A wait is over. Times come by waits alone: the clock of a replay differs around a local activity, such as the one
   * that opens an incident.
   *
   * @param until of the wait, milliseconds since the epoch
   */
  waited(until: number): void {
    this.reached = until;
  }

  /** Whether anything was reported since the last step. */
  get hasReports(): boolean {
    return this.gone.length > 0 || this.hasSucceeded || this.reports.length > 0;
  }

  /** The incident as the endpoint's owner sees it. */
  get open(): OpenIncident {
    const { since, failures, last_failure, last_failure_at, next_probe_at } = this.state;
    const probe = this.isBackingOff && next_probe_at ? { next_probe_at } : {};
    return { since, failures, last_failure, last_failure_at, ...probe, disable_at: iso(this.disableAt) };
  }

  /** Next step. @param now which what is sent and marked says, milliseconds since the epoch */
  step(now: number): IncidentStep {
    if (this.outcome) return this.end(this.outcome, now);
    if (this.ending) return this.unmark(this.ending);
    const cause = this.gone.shift();
    if (cause) return this.disable(GONE, cause, now);
    if (this.phase === 'closed') return this.releaseWhatWaitedMeanwhile(now);
    this.count();
    if (!this.state.announced) return this.announce();
    if (this.hasSucceeded) return this.close(now);
    if (this.reached >= this.disableAt) return this.judge(now);
    if (this.reached >= this.probeAt) return this.probe(now);
    if (this.isBackingOff && !this.state.backs_off) return this.hold();
    return { kind: 'wait', until: Math.min(this.disableAt, this.probeAt) };
  }

  /**
   * State in which the endpoint was found when it was marked.
   *
   * @param status `active`, or what else: there is nothing to watch then
   */
  marked(status: string): void {
    if (status !== 'active') this.ending = 'superseded';
  }

  /** @param didIt whether the endpoint was disabled; if not, it is not active, or was changed after the cause */
  disabled(didIt: boolean): void {
    // An answer 410 of an earlier URL says nothing, and there may be failures to watch.
    const isWatching =
      this.phase === 'closed' || this.state.failures + this.reports.length + this.gone.length > 0;
    if (didIt) this.outcome = 'disabled';
    else if (this.phase === 'timed_out' || !isWatching) this.outcome = 'superseded';
  }

  private get isBackingOff(): boolean {
    return this.state.breaker_opened || this.state.failures >= BACKOFF_AFTER_FAILURES;
  }

  private get disableAt(): number {
    return Date.parse(this.state.since) + this.settings.disable_after_ms;
  }

  /** While nothing waits for a probe, there is nothing to probe with. */
  private get probeAt(): number {
    const { next_probe_at } = this.state;
    return this.isBackingOff && next_probe_at ? Date.parse(next_probe_at) : Number.POSITIVE_INFINITY;
  }

  private get failing(): FailingMark {
    const { since, next_probe_at } = this.state;
    return { since, ...(this.isBackingOff && next_probe_at && { backoff_until: next_probe_at }) };
  }

  private count(): void {
    Object.assign(this.state, sum(this.state, this.reports));
    this.reports = [];
    this.state.next_probe_at ??= this.nextProbeAt(Date.parse(this.state.since));
  }

  private nextProbeAt(now: number): string {
    const { probe_interval_ms, timings } = this.settings;
    return iso(now + probeWait(this.state.probes, probe_interval_ms, { ...TIMINGS, ...timings }));
  }

  private announce(): IncidentStep {
    const { since, failures, last_failure } = this.state;
    this.state.announced = true;
    const event = this.event('endpoint.failing', since, { since, failures, last_failure });
    return { kind: 'open', failing: this.failing, event };
  }

  private hold(): IncidentStep {
    this.state.backs_off = true;
    return { kind: 'hold', failing: this.failing };
  }

  private probe(now: number): IncidentStep {
    this.state.probes += 1;
    this.state.next_probe_at = this.nextProbeAt(now);
    this.state.backs_off = true;
    return { kind: 'probe', failing: this.failing };
  }

  /** A single failure is no reason to make other deliveries' retries early. */
  private close(now: number): IncidentStep {
    const { since, failures } = this.state;
    const recovered_at = iso(now);
    this.phase = 'closed';
    const event = this.event('endpoint.recovered', recovered_at, { since, recovered_at, failures });
    return { kind: 'close', release: this.isBackingOff, event };
  }

  /**
   * Failures that came while the end was noted, and then a success: nobody else would release what had to wait because
   * of them.
   */
  private releaseWhatWaitedMeanwhile(now: number): IncidentStep {
    const many = opensBreaker(this.reports) || countOf(this.reports) >= BACKOFF_AFTER_FAILURES;
    if (!this.hasSucceeded || !many) return this.end('recovered', now);
    this.reports = [];
    return { kind: 'release' };
  }

  /**
   * The time is up: the endpoint is disabled if its failures span at least half of it; a single old failure is no
   * proof.
   */
  private judge(now: number): IncidentStep {
    const { id, since, last_failure_at, last_failure, last_attempt: attempt } = this.state;
    const { disable_after_ms } = this.settings;
    this.phase = 'timed_out';
    if (Date.parse(last_failure_at) - Date.parse(since) < disable_after_ms / 2) return this.unmark('lapsed');
    const reason = `It failed for ${formatDuration(disable_after_ms)} without a success; the last attempt ${last_failure}.`;
    return this.disable(reason, { cause: id, ...(attempt !== undefined && { attempt }) }, now);
  }

  private disable(reason: string, cause: DisableCause, now: number): IncidentStep {
    const { since } = this.state;
    const disabled_at = iso(now);
    const event = this.event('endpoint.disabled', disabled_at, { since, disabled_at, reason });
    return { kind: 'disable', reason, cause, event };
  }

  private unmark(outcome: IncidentOutcome): IncidentStep {
    this.outcome = outcome;
    return { kind: 'unmark' };
  }

  private end(outcome: IncidentOutcome, now: number): IncidentStep {
    this.outcome = outcome;
    const failsAgain = outcome === 'recovered' && this.reports.length > 0 && !this.hasSucceeded;
    if (!failsAgain) return { kind: 'ended', outcome };
    const next = newIncident(`${this.state.id}:${iso(now)}`, iso(now), iso(now));
    return { kind: 'ended', outcome, next: sum(next, this.reports) };
  }

  private event(kind: OperationalKind, at: string, facts: Record<string, unknown>): OperationalEvent {
    const { account_id, endpoint_id } = this.settings.endpoint;
    const transition = `${this.state.id}:${kind}`;
    return { account_id, kind, at: recordedTime(at), transition, payload: { endpoint_id, ...facts } };
  }
}

/** An incident with further failures. */
function sum(state: IncidentState, reports: readonly Failures[]): IncidentState {
  const failures = state.failures + countOf(reports);
  const last = reports.at(-1);
  if (!last) return { ...state, failures };
  const opened = opensBreaker(reports) && { breaker_opened: true as const };
  const { said: last_failure, at: last_failure_at, attempt: last_attempt } = last;
  const attempt = last_attempt !== undefined && { last_attempt };
  return { ...state, failures, last_failure, last_failure_at, ...attempt, ...opened };
}

function opensBreaker(reports: readonly Failures[]): boolean {
  return reports.some(({ opens_breaker }) => opens_breaker);
}

function countOf(reports: readonly Failures[]): number {
  return reports.reduce((total, { count }) => total + count, 0);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
