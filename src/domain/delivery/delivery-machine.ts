import { formatDuration } from '../basics/duration.js';
import type { AttemptReport } from './attempt-report.js';
import {
  type DeliveryRecord,
  type DeliverySettings,
  type DeliveryStatus,
  type Intervention,
  isClosed,
  type Trigger,
} from './delivery.js';
import { describeAttempt } from './outcome.js';
import { nextAttempt } from './retry-schedule.js';

/** With this many attempts a delivery is over, whatever its schedule says: its history must stay readable. */
export const MAX_ATTEMPTS = 100;

/** With this many interventions a delivery takes none but `cancel`. */
export const MAX_INTERVENTIONS = 100;

/** What an operator can do to a live delivery. */
export type Action = Exclude<Intervention['action'], 'resend'>;

/** Time and chance, which a workflow must take from where a replay takes them, too. */
export interface Surroundings {
  /** Milliseconds since the epoch. */
  now(): number;
  /** From 0 up to 1. */
  random(): number;
  /** The record has changed in a way that operators should see. */
  changed(record: DeliveryRecord, statusChanged: boolean): void;
}

/** What comes next: an attempt, a wait until a time unless something stirs, or nothing more. */
export type Step =
  | { kind: 'attempt'; trigger: Trigger }
  | { kind: 'wait'; until: number; because: string }
  | { kind: 'closed' };

/**
 * A delivery between its attempts: what has happened, what comes next, and what may be done to it. It knows nothing of Temporal; the
 * workflow makes the attempts and the waits that it asks for.
 *
 * It always comes to an end: attempts of the schedule are used up, manual and repeated ones and interventions are limited, and parking
 * has a limit in time.
 */
export class DeliveryMachine {
  readonly record: DeliveryRecord = { status: 'delivering', attempts: [] };
  /** Something happened that may have changed what comes next. */
  stirred = false;
  private readonly settings: DeliverySettings;
  private readonly surroundings: Surroundings;
  /** Attempts of the schedule that have failed; manual ones do not use it up. */
  private failed = 0;
  private due: { at: number; trigger: Trigger } | undefined;
  /** It waits its turn under the endpoint's rate limit, with an attempt of this trigger. */
  private queued: { at: number; trigger: Trigger } | undefined;
  /** What the latest attempt is, or was, made for. */
  private trigger: Trigger = 'schedule';
  /** The turn that the attempt has waited for; absent where it has none. ISO 8601, UTC. */
  turn: string | undefined;
  private parkedSince: number | undefined;
  /** Parked because its endpoint is failing: when to look at it again. */
  private lookAgainAt: number | undefined;
  private paused = false;
  private attempting = true;
  /** Somebody asked for an attempt now. */
  private nudged = false;
  /** The endpoint has changed since the last attempt began, which may have seen it as it was before. */
  private released = false;

  constructor(settings: DeliverySettings, surroundings: Surroundings, resent?: Intervention) {
    this.settings = settings;
    this.surroundings = surroundings;
    if (resent) this.record.interventions = [resent];
  }

  get nextNumber(): number {
    return this.record.attempts.length + 1;
  }

  /** Takes in what came of an attempt, and says whether the delivery goes on. */
  settle(report: AttemptReport): 'open' | 'closed' {
    this.attempting = false;
    this.lookAgainAt = undefined;
    if (report.kind === 'not_attempted') {
      if (report.endpoint === 'deleted') return this.close('cancelled', 'The endpoint was deleted.');
      if (report.look_again_at) this.lookAgainAt = Date.parse(report.look_again_at);
      return this.park(`The endpoint is ${report.endpoint}${report.reason ? `: ${report.reason}` : '.'}`);
    }
    if (report.kind === 'deferred') return this.queue(report);
    const { attempt, outcome } = report;
    this.record.attempts.push(attempt);
    const said = `Attempt ${attempt.number} ${describeAttempt(attempt)}.`;
    if (outcome === 'delivered') return this.close('delivered', said);
    if (this.record.attempts.length >= MAX_ATTEMPTS)
      return this.close('exhausted', `${said} That was attempt ${MAX_ATTEMPTS}, the most there can be.`);
    this.parkedSince = undefined;
    if (outcome === 'gone') return this.park(`${said} The endpoint was disabled.`);
    if (outcome === 'blocked')
      return this.park(`${said} It waits until the endpoint has another URL, or is retried.`);
    return this.planNext(said, report.retry_after, attempt.trigger === 'manual');
  }

  /** What comes next, now. An attempt that it asks for is in flight from then on. */
  step(): Step {
    this.stirred = false;
    if (isClosed(this.record.status)) return { kind: 'closed' };
    if (this.nudged) return this.begin('manual');
    const now = this.surroundings.now();
    if (this.record.status === 'parked') return this.stepParked(now);
    const next = this.next ?? { at: now, trigger: 'schedule' as const };
    if (now >= next.at) return this.begin(next.trigger, this.queued);
    const because = this.queued ? "its turn under the endpoint's rate limit" : this.lastAttempt();
    return { kind: 'wait', until: next.at, because };
  }

  /** Why an action is refused in this state; `undefined` where it is not. */
  refusal(action: Action): string | undefined {
    if (action === 'resume' && !this.paused) return 'the delivery is not paused';
    if (this.attempting) return 'an attempt is in flight';
    if (isClosed(this.record.status)) return `the delivery is closed: ${this.record.status}`;
    if (action === 'cancel') return undefined;
    if ((this.record.interventions?.length ?? 0) >= MAX_INTERVENTIONS)
      return `${MAX_INTERVENTIONS} interventions have been made, the most there can be`;
    if (action === 'retry' && this.queued)
      return "the delivery waits its turn under the endpoint's rate limit";
    if (action === 'retry' && this.paused) return 'the delivery is paused; resume it first';
    if (action === 'pause' && this.paused) return 'the delivery is paused already';
    return undefined;
  }

  /** Does what an operator asks for; to be called only where there is no {@link refusal}. */
  act(action: Action, by: string): void {
    this.note(action, by);
    this.stirred = true;
    switch (action) {
      case 'retry':
        this.nudged = true;
        this.attempting = true;
        break;
      case 'cancel':
        this.close('cancelled', `Cancelled by ${by}.`);
        break;
      case 'pause':
        this.paused = true;
        this.park(`Paused by ${by}.`);
        break;
      case 'resume':
        this.paused = false;
        this.parkedSince = undefined;
        // Parked before it was paused: there is no plan to go back to, so the endpoint is looked at anew.
        this.due ??= { at: this.surroundings.now(), trigger: 'released' };
        this.show('retrying', `Resumed by ${by}.`);
    }
  }

  /** The endpoint takes deliveries again, or is gone. Only a parked delivery heeds it. */
  endpointChanged(): void {
    this.released = true;
    this.stirred = true;
  }

  /** What the delivery waits for, unless it is parked. */
  private get next(): { at: number; trigger: Trigger } | undefined {
    return this.queued ?? this.due;
  }

  private queue({ turn, reason }: Extract<AttemptReport, { kind: 'deferred' }>): 'open' {
    this.queued = { at: Date.parse(turn), trigger: this.trigger };
    this.parkedSince = undefined;
    this.show(this.record.attempts.length === 0 ? 'delivering' : 'retrying', reason);
    return 'open';
  }

  private planNext(said: string, retryAfter: string | undefined, manual: boolean): 'open' | 'closed' {
    const now = this.surroundings.now();
    const notBefore = retryAfter === undefined ? undefined : Date.parse(retryAfter);
    if (manual && this.due && this.due.at > now) {
      if (notBefore !== undefined && notBefore > this.due.at)
        this.due = { at: notBefore, trigger: 'retry_after' };
    } else {
      this.failed += 1;
      const random = this.surroundings.random();
      const next = nextAttempt(this.settings.schedule, this.failed, now, notBefore, random);
      if (!next) return this.close('exhausted', `${said} That was the last of the schedule.`);
      this.due = { at: next.at, trigger: next.because };
    }
    this.show('retrying', said);
    return 'open';
  }

  private stepParked(now: number): Step {
    if (!this.paused && this.released) return this.begin('released');
    const limit = this.settings.park_limit_ms;
    const expiry = (this.parkedSince ?? now) + limit;
    if (now >= expiry) {
      const reason = this.record.reason ?? '';
      this.close(
        'expired',
        `Parked for ${formatDuration(limit)}, the longest that is kept. ${reason}`.trim(),
      );
      return { kind: 'closed' };
    }
    const lookAgain = this.paused ? undefined : this.lookAgainAt;
    if (lookAgain !== undefined && now >= lookAgain) return this.begin('schedule');
    return {
      kind: 'wait',
      until: Math.min(expiry, lookAgain ?? expiry),
      because: `parked: expires after ${formatDuration(limit)}`,
    };
  }

  private begin(trigger: Trigger, queued?: { at: number }): Step {
    this.attempting = true;
    this.trigger = trigger;
    this.turn = queued && new Date(queued.at).toISOString();
    this.queued = undefined;
    this.nudged = false;
    this.released = false;
    return { kind: 'attempt', trigger };
  }

  private note(action: Action, by: string): void {
    const at = new Date(this.surroundings.now()).toISOString();
    this.record.interventions = [...(this.record.interventions ?? []), { action, at, by }];
  }

  private park(reason: string): 'open' {
    this.parkedSince ??= this.surroundings.now();
    if (!this.paused) this.due = undefined;
    this.queued = undefined;
    this.show('parked', reason);
    return 'open';
  }

  private close(status: DeliveryStatus, reason: string): 'closed' {
    // A delivery that succeeds at once says so by completing: nothing that would cost history events is written.
    if (status === 'delivered' && this.record.reason === undefined) {
      this.record.status = status;
      this.record.reason = reason;
    } else {
      this.show(status, reason);
    }
    return 'closed';
  }

  private show(status: DeliveryStatus, reason: string): void {
    const statusChanged = status !== this.record.status;
    this.record.status = status;
    delete this.record.next_attempt_at;
    const waits = status === 'retrying' || status === 'delivering';
    if (waits && this.next) this.record.next_attempt_at = new Date(this.next.at).toISOString();
    this.record.reason = this.record.next_attempt_at ? `${reason} ${this.plan()}` : reason;
    this.surroundings.changed(this.record, statusChanged);
  }

  private plan(): string {
    const asked = this.next?.trigger === 'retry_after' ? ', as its Retry-After asked' : '';
    return `Next attempt at ${this.record.next_attempt_at}${asked}.`;
  }

  private lastAttempt(): string {
    const last = this.record.attempts.at(-1);
    return last ? `attempt ${last.number} ${describeAttempt(last)}` : 'waiting';
  }
}
