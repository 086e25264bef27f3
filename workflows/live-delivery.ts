import {
  ApplicationFailure,
  condition,
  setCurrentDetails,
  setHandler,
  upsertMemo,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { AttemptReport } from '../activities/ports.js';
import type {
  DeliveryRecord,
  DeliverySettings,
  DeliveryStatus,
  Intervention,
  Trigger,
} from '../src/domain/delivery.js';
import { formatDuration } from '../src/domain/duration.js';
import { describeAttempt } from '../src/domain/outcome.js';
import { nextAttempt } from '../src/domain/retry-schedule.js';
import { STATUS_ATTRIBUTE } from '../src/domain/search-attributes.js';
import { cancel, endpointChanged, type Operator, pause, resume, retryNow } from './messages.js';

/** With this many attempts a delivery takes no further manual one: its history must stay readable. */
const MAX_ATTEMPTS = 100;

/** The state of a delivery between its attempts: what has happened, what comes next, and what its handlers may do to it. */
export class LiveDelivery {
  readonly record: DeliveryRecord = { status: 'delivering', attempts: [] };
  private readonly settings: DeliverySettings;
  /** Attempts of the schedule that have failed; manual ones do not use it up. */
  private failed = 0;
  private due: { at: number; trigger: Trigger } | undefined;
  private parkedSince: number | undefined;
  private paused = false;
  private attempting = true;
  /** Somebody asked for an attempt now. */
  private nudged = false;
  /** The endpoint has changed since the last attempt began, which may have seen it as it was before. */
  private released = false;
  /** The plan has changed: wait anew. */
  private replanned = false;

  constructor(settings: DeliverySettings) {
    this.settings = settings;
    setHandler(retryNow, (operator: Operator | undefined) => this.retry(operator), {
      validator: (_: Operator) => this.validateRetry(),
    });
    setHandler(cancel, (operator: Operator | undefined) => this.cancel(operator), {
      validator: (_: Operator) => this.refuseInFlight(),
    });
    setHandler(pause, (operator: Operator | undefined) => this.pause(operator), {
      validator: (_: Operator) => this.validatePause(),
    });
    setHandler(resume, (operator: Operator | undefined) => this.resume(operator), {
      validator: (_: Operator) => this.validateResume(),
    });
    setHandler(endpointChanged, () => {
      this.released = true;
    });
  }

  get nextNumber(): number {
    return this.record.attempts.length + 1;
  }

  /** Takes in what came of an attempt, and says whether the delivery goes on. */
  settle(report: AttemptReport): 'open' | 'closed' {
    this.attempting = false;
    if (report.kind === 'not_attempted') {
      if (report.endpoint === 'deleted') return this.close('cancelled', 'The endpoint was deleted.');
      return this.park(`The endpoint is ${report.endpoint}${report.reason ? `: ${report.reason}` : '.'}`);
    }
    const { attempt, outcome } = report;
    this.record.attempts.push(attempt);
    const said = `Attempt ${attempt.number} ${describeAttempt(attempt)}.`;
    if (outcome === 'delivered') return this.close('delivered', said);
    this.parkedSince = undefined;
    if (outcome === 'gone') return this.park(`${said} The endpoint was disabled.`);
    const retryAfter = report.retry_after === undefined ? undefined : Date.parse(report.retry_after);
    if (attempt.trigger === 'manual' && this.due && this.due.at > Date.now()) {
      if (retryAfter !== undefined && retryAfter > this.due.at)
        this.due = { at: retryAfter, trigger: 'retry_after' };
    } else {
      this.failed += 1;
      const next = nextAttempt(this.settings.schedule, this.failed, Date.now(), retryAfter, Math.random());
      if (!next) return this.close('exhausted', `${said} That was the last of the schedule.`);
      this.due = { at: next.at, trigger: next.because };
    }
    this.show('retrying', said);
    return 'open';
  }

  /**
   * Waits for the next attempt's time, or for somebody to change the plan.
   *
   * @returns what the next attempt is made for; `undefined` where the delivery has been closed
   */
  async wait(): Promise<Trigger | undefined> {
    for (;;) {
      this.replanned = false;
      const parked = this.record.status === 'parked';
      const released = () => parked && !this.paused && this.released;
      const until = parked
        ? (this.parkedSince ?? Date.now()) + this.settings.park_limit_ms
        : (this.due?.at ?? Date.now());
      const woken = await condition(
        () => this.nudged || this.replanned || released(),
        Math.max(until - Date.now(), 1),
        { summary: this.timerSummary(parked) },
      );
      if (this.record.status === 'cancelled') return undefined;
      if (this.nudged) return this.begin('manual');
      if (this.replanned) continue;
      if (woken) return this.begin('released');
      if (!parked) return this.begin(this.due?.trigger ?? 'schedule');
      const limit = formatDuration(this.settings.park_limit_ms);
      this.close(
        'expired',
        `Parked for ${limit}, the longest that is kept. ${this.record.reason ?? ''}`.trim(),
      );
      return undefined;
    }
  }

  private begin(trigger: Trigger): Trigger {
    this.attempting = true;
    this.nudged = false;
    this.released = false;
    return trigger;
  }

  /** Temporal was asked to cancel the execution: by its UI, its command line or another client. */
  cancelledByTemporal(): void {
    if (this.record.status !== 'cancelled') this.cancel({ by: 'temporal' });
  }

  private retry(operator: Operator | undefined): DeliveryRecord {
    this.note('retry', operator);
    this.nudged = true;
    this.attempting = true;
    return this.record;
  }

  private cancel(operator: Operator | undefined): DeliveryRecord {
    const by = this.note('cancel', operator);
    this.close('cancelled', `Cancelled by ${by}.`);
    this.replanned = true;
    return this.record;
  }

  private pause(operator: Operator | undefined): DeliveryRecord {
    const by = this.note('pause', operator);
    this.paused = true;
    this.park(`Paused by ${by}.`);
    this.replanned = true;
    return this.record;
  }

  private resume(operator: Operator | undefined): DeliveryRecord {
    const by = this.note('resume', operator);
    this.paused = false;
    this.parkedSince = undefined;
    // Parked before it was paused: there is no plan to go back to, so the endpoint is looked at anew.
    this.due ??= { at: Date.now(), trigger: 'released' };
    this.show('retrying', `Resumed by ${by}.`);
    this.replanned = true;
    return this.record;
  }

  private validateRetry(): void {
    this.refuseInFlight();
    if (this.paused) throw refusal('the delivery is paused; resume it first');
    if (this.record.attempts.length >= MAX_ATTEMPTS)
      throw refusal(`${MAX_ATTEMPTS} attempts have been made, the most there can be`);
  }

  private validatePause(): void {
    this.refuseInFlight();
    if (this.paused) throw refusal('the delivery is paused already');
  }

  private validateResume(): void {
    // Cancelled and resumed in one workflow task: what has been given up is not taken up again.
    if (this.record.status === 'cancelled') throw refusal('the delivery is cancelled');
    if (!this.paused) throw refusal('the delivery is not paused');
  }

  private refuseInFlight(): void {
    if (this.attempting) throw refusal('an attempt is in flight');
    if (this.record.status === 'cancelled') throw refusal('the delivery is cancelled');
  }

  private note(action: Intervention['action'], operator: Operator | undefined): string {
    const by = operator?.by ?? 'an operator';
    this.record.interventions = [
      ...(this.record.interventions ?? []),
      { action, at: new Date().toISOString(), by },
    ];
    return by;
  }

  private park(reason: string): 'open' {
    this.parkedSince ??= Date.now();
    if (!this.paused) this.due = undefined;
    this.show('parked', reason);
    return 'open';
  }

  private close(status: DeliveryStatus, reason: string): 'closed' {
    // A delivery that succeeds at once says so by completing: nothing that would cost history events is written.
    const silent = status === 'delivered' && this.record.status === 'delivering';
    delete this.record.next_attempt_at;
    if (silent) {
      this.record.status = status;
      this.record.reason = reason;
    } else {
      this.show(status, reason);
    }
    return 'closed';
  }

  /** Writes what happened and what comes next to where operators look: search attribute (on change), memo, current details. */
  private show(status: DeliveryStatus, reason: string): void {
    if (status !== this.record.status) upsertSearchAttributes([{ key: STATUS_ATTRIBUTE, value: status }]);
    this.record.status = status;
    delete this.record.next_attempt_at;
    if (status === 'retrying' && this.due) this.record.next_attempt_at = new Date(this.due.at).toISOString();
    this.record.reason = this.record.next_attempt_at ? `${reason} ${this.plan()}` : reason;
    upsertMemo({ delivery: this.record });
    setCurrentDetails(this.record.reason);
  }

  private plan(): string {
    const asked = this.due?.trigger === 'retry_after' ? ', as its Retry-After asked' : '';
    return `Next attempt at ${this.record.next_attempt_at}${asked}.`;
  }

  private timerSummary(parked: boolean): string {
    const last = this.record.attempts.at(-1);
    if (parked) return `parked: expires after ${formatDuration(this.settings.park_limit_ms)}`;
    return last ? `attempt ${last.number} ${describeAttempt(last)}`.slice(0, 180) : 'waiting';
  }
}

/** The record of a delivery that succeeded at once; `null` where it did not. */
export function deliveredRecord(report: AttemptReport | null | undefined): DeliveryRecord | null {
  if (report?.kind !== 'attempted' || report.outcome !== 'delivered') return null;
  const { attempt } = report;
  return {
    status: 'delivered',
    attempts: [attempt],
    reason: `Attempt ${attempt.number} ${describeAttempt(attempt)}.`,
  };
}

function refusal(detail: string): ApplicationFailure {
  return ApplicationFailure.create({ type: 'refused', message: detail, nonRetryable: true });
}
