import type { Trigger } from '../attempt/attempt.js';
import type { AttemptReport } from '../attempt/attempt-report.js';
import { type AttemptCause, attemptCause, type Cause, waitCause } from '../attempt/cause.js';
import { describeAttempt } from '../attempt/outcome.js';
import { formatDuration } from '../basics/duration.js';
import { present } from '../basics/objects.js';
import { nextAttempt } from '../endpoint/retry-schedule.js';
import type { DeliveryRecord, DeliverySettings, DeliveryStatus, Intervention } from './delivery.js';
import {
  type DeliverySnapshot,
  type DeliveryState,
  IN_FLIGHT,
  MAX_ATTEMPTS,
  MAX_INTERVENTIONS,
  MAX_PROBED_ATTEMPTS,
  nextAttemptOf,
  notBefore,
  type PlannedAttempt,
  type Probed,
  parkedSince,
  planAfterProbe,
  planOf,
} from './delivery-state.js';

/** Actions of an operator on an open delivery. */
export type Action = Exclude<Intervention['action'], 'resend' | 'replay' | 'terminate'>;

/** Time and chance. A workflow must take them from sources that a replay repeats. */
export interface Surroundings {
  /** Milliseconds since the epoch. */
  now(): number;
  /** From 0 up to 1, for the wait after the failed attempt of that number. */
  random(attempt: number): number;
}

/** Next step: an attempt, a wait until a time unless something changes, or nothing more. */
export type Step =
  | { kind: 'attempt'; trigger: Trigger }
  | { kind: 'wait'; until: number; because: string }
  | { kind: 'closed' };

/**
 * A delivery between its attempts: what has happened, what comes next, and what may be done to it. It knows nothing of
 * Temporal; the workflow makes the attempts and the waits that it asks for. It begins with its first attempt in flight.
 *
 * It always comes to an end: attempts of the schedule are used up, manual and repeated ones and interventions are
 * limited, and parking has a limit in time.
 */
export class DeliveryMachine {
  readonly record: DeliveryRecord;
  private readonly settings: DeliverySettings;
  private readonly surroundings: Surroundings;
  private state: DeliveryState;
  /** Attempts of the schedule that have failed; those made on request or by a release do not use it up. */
  private failed = 0;
  /** See {@link DeliverySnapshot}. */
  private lost_tries: number | undefined;

  /** @param resent who sent a closed delivery again, if this is such a run */
  constructor(settings: DeliverySettings, surroundings: Surroundings, resent?: Intervention) {
    this.settings = settings;
    this.surroundings = surroundings;
    this.record = { status: 'delivering', attempts: [], ...(resent && { interventions: [resent] }) };
    this.state = { kind: 'attempting', trigger: resent ? 'manual' : 'schedule', endpoint_changed: false };
  }

  /** Carries on with a delivery where another execution left it. */
  static from(
    settings: DeliverySettings,
    surroundings: Surroundings,
    { record, state, failed, lost_tries }: DeliverySnapshot,
  ): DeliveryMachine {
    const machine = new DeliveryMachine(settings, surroundings);
    Object.assign(machine.record, record);
    machine.state = state;
    machine.failed = failed;
    machine.lost_tries = lost_tries;
    return machine;
  }

  get snapshot(): DeliverySnapshot {
    const { record, state, failed, lost_tries } = this;
    return present({ record, state, failed, lost_tries });
  }

  get nextNumber(): number {
    return this.record.attempts.length + 1;
  }

  get isAttempting(): boolean {
    return this.state.kind === 'attempting';
  }

  /** The attempt in flight: see `MemberAttempt`. `undefined` if there is none. */
  get attempting(): { trigger: Trigger; turn?: string; lost_tries?: number } | undefined {
    const { state, lost_tries } = this;
    if (state.kind !== 'attempting') return undefined;
    return present({ trigger: state.trigger, turn: state.turn, lost_tries });
  }

  get isDeferred(): boolean {
    return this.state.kind === 'deferred';
  }

  /**
   * Records the result of the attempt in flight, and returns whether the delivery goes on.
   *
   * @param lost its tries that may have been sent before: the attempt says so, or if none was made, the next one
   */
  settle(report: AttemptReport, lost?: number): 'open' | 'closed' {
    const { state } = this;
    if (state.kind !== 'attempting') throw new Error(`no attempt is in flight: ${state.kind}`);
    this.lost_tries = report.kind === 'attempted' ? undefined : lost;
    if (report.kind === 'erased') return this.close('cancelled', { code: 'erased' });
    if (report.kind === 'not_attempted' && report.endpoint === 'deleted')
      return this.close('cancelled', { code: 'endpoint_deleted' });
    if (report.kind !== 'attempted' && state.probed)
      return this.endProbe(state.probed, state.endpoint_changed);
    if (report.kind === 'deferred') return this.defer(report, state.trigger);
    if (report.kind !== 'attempted') return this.park(waitCause(report), report.look_again_ms);
    const { attempt, outcome } = report;
    this.record.attempts.push(attempt);
    const result = attemptCause(attempt);
    if (outcome === 'delivered') return this.close('delivered', result);
    if (this.record.attempts.length >= MAX_ATTEMPTS)
      return this.close('exhausted', { ...result, led_to: 'most_attempts' });
    delete state.parked_since;
    if (outcome === 'gone') return this.park({ ...result, led_to: 'endpoint_disabled' });
    if (outcome === 'blocked') return this.park({ ...result, led_to: 'address_blocked' });
    if (state.probed)
      return this.endProbe(state.probed, state.endpoint_changed, result, report.retry_after_ms);
    const extra = attempt.trigger === 'manual' || attempt.trigger === 'released';
    return this.planNext(result, report.retry_after_ms, extra);
  }

  /** Next step, now; not while an attempt is in flight. An attempt that it asks for is in flight from then on. */
  step(): Step {
    const { state } = this;
    const now = this.surroundings.now();
    switch (state.kind) {
      case 'attempting':
        throw new Error(IN_FLIGHT);
      case 'closed':
        return { kind: 'closed' };
      case 'called':
        return this.begin(state.trigger ?? 'manual');
      case 'waiting':
        if (now >= state.plan.at) return this.begin(state.plan.trigger);
        return { kind: 'wait', until: state.plan.at, because: this.lastAttempt() };
      case 'deferred':
        if (now >= state.turn.at) return this.begin(state.turn.trigger, state.turn.taken);
        return { kind: 'wait', until: state.turn.at, because: "its turn under the endpoint's rate limit" };
      case 'paused':
        return this.stepParked(now, state.since);
      case 'parked':
        if (state.endpoint_changed) return this.begin('released');
        return this.stepParked(now, state.since, state.look_again_at);
    }
  }

  /** Why an action is refused in this state; `undefined` if it is not. */
  refusal(action: Action): string | undefined {
    const { kind } = this.state;
    if (kind === 'closed') return `the delivery is closed: ${this.record.status}`;
    if (action === 'resume' && kind !== 'paused') return 'the delivery is not paused';
    if (kind === 'attempting' || kind === 'called') return IN_FLIGHT;
    if (action === 'cancel') return undefined;
    if ((this.record.interventions?.length ?? 0) >= MAX_INTERVENTIONS)
      return `a delivery takes at most ${MAX_INTERVENTIONS} interventions`;
    if (action === 'retry' && kind === 'deferred')
      return "the delivery waits its turn under the endpoint's rate limit";
    if (action === 'retry' && kind === 'paused') return 'the delivery is paused; resume it first';
    if (action === 'pause' && kind === 'paused') return 'the delivery is paused already';
    return undefined;
  }

  /** Whether a replay has done this to the delivery. */
  hasActed(action: Action, replay: string | undefined): boolean {
    const { interventions = [] } = this.record;
    return (
      replay !== undefined && interventions.some((one) => one.replay === replay && one.action === action)
    );
  }

  /**
   * Does what an operator asks for; to be called only if there is no {@link refusal}.
   *
   * @param replay the replay by which it is asked for, if it is
   */
  act(action: Action, by: string, replay?: string): void {
    const at = new Date(this.surroundings.now()).toISOString();
    const done = present({ action, at, by, replay });
    this.record.interventions = [...(this.record.interventions ?? []), done];
    switch (action) {
      case 'retry':
        this.state = { kind: 'called', ...this.kept() };
        break;
      case 'cancel':
        this.close('cancelled', { code: 'cancelled', by });
        break;
      case 'pause': {
        const since = parkedSince(this.state) ?? this.surroundings.now();
        this.enter({ kind: 'paused', since, plan: planOf(this.state) }, 'parked', { code: 'paused', by });
        break;
      }
      case 'resume': {
        // Parked before it was paused: there is no planned attempt, so the endpoint is tried again.
        const plan = planOf(this.state) ?? { at: this.surroundings.now(), trigger: 'released' };
        this.enter({ kind: 'waiting', plan }, 'retrying', { code: 'resumed', by });
      }
    }
  }

  /** The endpoint takes deliveries again, or is gone. Only a parked delivery reacts to it. */
  endpointChanged(): void {
    if (this.state.kind === 'parked' || this.state.kind === 'attempting') this.state.endpoint_changed = true;
  }

  /**
   * The endpoint takes deliveries again: a parked delivery is attempted, and one that waits for a retry is attempted
   * now, besides the attempt that it waits for. Not before the time that the endpoint asked for.
   *
   * @param most no more than this many attempts in a row, or a delivery that always fails would follow each recovery of
   * its endpoint
   * @returns whether an attempt is due that was not due before
   */
  release(most = 1): boolean {
    const { state } = this;
    if (state.kind === 'parked' && !state.endpoint_changed) {
      state.endpoint_changed = true;
      return true;
    }
    if (state.kind !== 'waiting') {
      this.endpointChanged();
      return false;
    }
    const now = this.surroundings.now();
    const latest = this.record.attempts.filter((attempt) => attempt.trigger !== 'probe').slice(-most);
    const isSpent = latest.length === most && latest.every((attempt) => attempt.trigger === 'released');
    if (isSpent || state.plan.at <= now || notBefore(state.plan) > now) return false;
    this.state = { kind: 'called', trigger: 'released', ...this.kept() };
    return true;
  }

  /**
   * The endpoint is to be tried: a delivery that waits is attempted, unless the endpoint asked for a later time. If
   * that fails, the delivery waits as it did.
   *
   * @returns whether an attempt is due that was not due before
   */
  probe(): boolean {
    const { state } = this;
    const now = this.surroundings.now();
    if (state.kind !== 'parked' && state.kind !== 'waiting') return false;
    const isFree =
      state.kind === 'parked' ? !state.endpoint_changed : state.plan.at > now && notBefore(state.plan) <= now;
    if (!isFree || this.record.attempts.length >= MAX_PROBED_ATTEMPTS) return false;
    this.state = { kind: 'called', trigger: 'probe', ...this.kept(), probed: state };
    return true;
  }

  /** @param result of its attempt, which failed; absent if none was made */
  private endProbe(probed: Probed, hasChanged: boolean, result?: Cause, retryAfterMs?: number): 'open' {
    const asked = this.after(retryAfterMs);
    if (probed.kind === 'parked' && asked === undefined) {
      this.state = { ...probed, endpoint_changed: hasChanged };
    } else if (result !== undefined) {
      this.enter({ kind: 'waiting', plan: planAfterProbe(probed, asked) }, 'retrying', result);
    } else {
      this.state = probed;
    }
    return 'open';
  }

  private defer(
    { turn: taken, wait_ms, per_second }: Extract<AttemptReport, { kind: 'deferred' }>,
    trigger: Trigger,
  ): 'open' {
    const status = this.record.attempts.length === 0 ? 'delivering' : 'retrying';
    const turn = { at: this.surroundings.now() + wait_ms, trigger, taken };
    this.enter({ kind: 'deferred', turn, plan: planOf(this.state) }, status, {
      code: 'deferred',
      per_second,
    });
    return 'open';
  }

  /** @param extra it was not the attempt that the schedule holds: that one is still made at its time */
  private planNext(
    result: AttemptCause,
    retryAfterMs: number | undefined,
    extra: boolean,
  ): 'open' | 'closed' {
    const now = this.surroundings.now();
    const notBefore = this.after(retryAfterMs);
    let plan = planOf(this.state);
    if (extra && plan && plan.at > now) {
      if (notBefore !== undefined && notBefore > plan.at) plan = { at: notBefore, trigger: 'retry_after' };
    } else {
      this.failed += 1;
      const random = this.surroundings.random(this.record.attempts.length);
      plan = nextAttempt(this.settings.schedule, this.failed, now, notBefore, random);
      if (!plan) return this.close('exhausted', { ...result, led_to: 'last_of_schedule' });
    }
    if (notBefore !== undefined) plan = { ...plan, not_before: notBefore };
    this.enter({ kind: 'waiting', plan }, 'retrying', result);
    return 'open';
  }

  private stepParked(now: number, since: number, lookAgainAt?: number): Step {
    const limit = this.settings.park_limit_ms;
    const expiry = since + limit;
    if (now >= expiry) {
      const { cause } = this.record;
      this.close('expired', { code: 'park_limit', limit_ms: limit, ...(cause && { before: cause }) });
      return { kind: 'closed' };
    }
    if (lookAgainAt !== undefined && now >= lookAgainAt) return this.begin('schedule');
    return {
      kind: 'wait',
      until: Math.min(expiry, lookAgainAt ?? expiry),
      because: `parked: expires after ${formatDuration(limit)}`,
    };
  }

  /**
   * Begins an attempt.
   *
   * @param turn the turn for which it has waited. ISO 8601, UTC
   */
  begin(trigger: Trigger, turn?: string): Step {
    const probed = trigger === 'probe' ? this.probed : undefined;
    const kept = this.kept();
    this.state = present({ kind: 'attempting', trigger, turn, ...kept, endpoint_changed: false, probed });
    return { kind: 'attempt', trigger };
  }

  /** State that a probe that begins now interrupts. */
  private get probed(): Probed | undefined {
    const { state } = this;
    if (state.kind === 'waiting' || state.kind === 'parked') return state;
    return state.kind === 'called' ? state.probed : undefined;
  }

  /** State that an attempt must not lose: the plan of the schedule, and since when the delivery is parked. */
  private kept(): { plan?: PlannedAttempt; parked_since?: number } {
    return present({ plan: planOf(this.state), parked_since: parkedSince(this.state) });
  }

  /** Parks a delivery whose attempt has just shown that its endpoint takes none. */
  private park(cause: Cause, lookAgainMs?: number): 'open' {
    const { state } = this;
    this.enter(
      {
        kind: 'parked',
        since: parkedSince(state) ?? this.surroundings.now(),
        look_again_at: this.after(lookAgainMs),
        endpoint_changed: state.kind === 'attempting' && state.endpoint_changed,
      },
      'parked',
      cause,
    );
    return 'open';
  }

  /** The time when a wait that begins now is over. */
  private after(ms: number | undefined): number | undefined {
    return ms === undefined ? undefined : this.surroundings.now() + ms;
  }

  private close(status: DeliveryStatus, cause: Cause): 'closed' {
    // A delivery that succeeds at once says so by completing: nothing that would cost history events is written.
    if (status === 'delivered' && this.record.cause === undefined) {
      this.state = { kind: 'closed' };
      this.record.status = status;
      this.record.cause = cause;
    } else {
      this.enter({ kind: 'closed' }, status, cause);
    }
    return 'closed';
  }

  private enter(state: DeliveryState, status: DeliveryStatus, cause: Cause): void {
    this.state = present(state);
    const { record } = this;
    record.status = status;
    record.cause = cause;
    delete record.next_attempt_at;
    delete record.asked_to_wait;
    const next = nextAttemptOf(state);
    if (next) record.next_attempt_at = new Date(next.at).toISOString();
    if (next?.trigger === 'retry_after') record.asked_to_wait = true;
    if (state.kind === 'closed') record.closed_at = new Date(this.surroundings.now()).toISOString();
  }

  private lastAttempt(): string {
    const last = this.record.attempts.at(-1);
    return last ? `attempt ${last.number} ${describeAttempt(last)}` : 'waiting';
  }
}
