import assert from 'node:assert/strict';
import type { Trigger } from '../../../src/domain/attempt/attempt.js';
import type { AttemptReport } from '../../../src/domain/attempt/attempt-report.js';
import { decide } from '../../../src/domain/attempt/outcome.js';
import type { DeliverySettings, Intervention } from '../../../src/domain/delivery/delivery.js';
import { DeliveryMachine, type Surroundings } from '../../../src/domain/delivery/delivery-machine.js';
import { DEFAULT_RETRY_SCHEDULE } from '../../../src/domain/endpoint/retry-schedule.js';

/** When a bench begins, milliseconds since the epoch. */
export const START = Date.parse('2026-03-01T12:00:00Z');
export const HOUR = 3_600_000;
export const PARK_LIMIT = 7 * 24 * HOUR;

/** A machine with a clock of its own, whose waits pass at once. */
export class Bench {
  now = START;
  attempts = 0;
  machine: DeliveryMachine;
  private readonly settings: DeliverySettings;
  private readonly surroundings: Surroundings;

  constructor(
    random: () => number = () => 0,
    schedule: readonly number[] = DEFAULT_RETRY_SCHEDULE,
    resent?: Intervention,
  ) {
    this.settings = { schedule, attempt_timeout_ms: 5_000, park_limit_ms: PARK_LIMIT };
    this.surroundings = {
      now: () => this.now,
      random,
    };
    this.machine = new DeliveryMachine(this.settings, this.surroundings, resent);
  }

  /** Has another execution carry on with the delivery. */
  handOver(): void {
    const snapshot = JSON.parse(JSON.stringify(this.machine.snapshot));
    this.machine = DeliveryMachine.from(this.settings, this.surroundings, snapshot);
  }

  answer(trigger: Trigger, status: number, retryAfter?: string): AttemptReport {
    this.attempts += 1;
    const retry_after = retryAfter === undefined ? {} : { retry_after: retryAfter };
    const { outcome, retry_after_ms } = decide({ status_code: status, ...retry_after }, this.now);
    return {
      kind: 'attempted',
      attempt: {
        number: this.machine.nextNumber,
        at: new Date(this.now).toISOString(),
        duration_ms: 1,
        url: 'https://example.com/',
        status_code: status,
        trigger,
      },
      outcome,
      ...(retry_after_ms !== undefined && { retry_after_ms }),
    };
  }

  /** Lets waits pass until an attempt is asked for, or the end. */
  next(): Trigger | undefined {
    for (;;) {
      const step = this.machine.step();
      if (step.kind === 'attempt') return step.trigger;
      if (step.kind === 'closed') return undefined;
      assert.ok(step.until > this.now, 'a wait that is over is no wait');
      this.now = step.until;
    }
  }
}
