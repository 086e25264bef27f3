import type { UpdateDefinition } from '@temporalio/common';
import {
  ApplicationFailure,
  condition,
  setCurrentDetails,
  setHandler,
  upsertMemo,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { AttemptReport } from '../src/domain/delivery/attempt-report.js';

import type { DeliveryRecord, DeliverySettings, Trigger } from '../src/domain/delivery/delivery.js';
import { type Action, DeliveryMachine } from '../src/domain/delivery/delivery-machine.js';
import { describeAttempt } from '../src/domain/delivery/outcome.js';
import { STATUS_ATTRIBUTE } from '../src/domain/ledger/search-attributes.js';
import { fitSummary } from '../src/domain/ledger/summaries.js';
import type { DeliverEventInput } from './inputs.js';
import { endpointChanged, OPERATOR_UPDATES, type Operator, operatorName, replayIn } from './messages.js';

const ACTIONS = Object.keys(OPERATOR_UPDATES) as Action[];

/** A delivery's machine in its workflow: timers, messages, and what operators see of it. */
export class LiveDelivery {
  private readonly machine: DeliveryMachine;
  /** Something happened that may have changed what comes next. */
  private stirred = false;

  constructor(settings: DeliverySettings, { resent, so_far }: Pick<DeliverEventInput, 'resent' | 'so_far'>) {
    const surroundings = { now: Date.now, random: Math.random, changed: show };
    this.machine = so_far
      ? DeliveryMachine.from(settings, surroundings, so_far)
      : new DeliveryMachine(settings, surroundings, resent);
    for (const action of ACTIONS) {
      const update: UpdateDefinition<DeliveryRecord, [Operator | undefined]> = OPERATOR_UPDATES[action];
      setHandler<DeliveryRecord, [Operator | undefined], typeof update>(
        update,
        (operator: Operator | undefined) => this.act(action, operator),
        {
          validator: () => this.refuse(action),
        },
      );
    }
    setHandler(endpointChanged, (endpointId, most, isProbe) => {
      if (endpointId === undefined) this.machine.endpointChanged();
      else if (isProbe) this.machine.probe();
      else this.machine.release(most);
      this.stirred = true;
    });
  }

  get record(): DeliveryRecord {
    return this.machine.record;
  }

  /** The turn under the endpoint's rate limit for which the attempt was deferred. ISO 8601, UTC. */
  get turn(): string | undefined {
    return this.machine.turn;
  }

  get nextNumber(): number {
    return this.machine.nextNumber;
  }

  /** Takes in the result of an attempt, and says whether the delivery goes on. */
  settle(report: AttemptReport): 'open' | 'closed' {
    return this.machine.settle(report);
  }

  /**
   * Waits for the next attempt's time, or for somebody to change the plan.
   *
   * @returns what the next attempt is made for; `undefined` if the delivery has been closed
   */
  async wait(): Promise<Trigger | undefined> {
    for (;;) {
      this.stirred = false;
      const step = this.machine.step();
      if (step.kind === 'attempt') return step.trigger;
      if (step.kind === 'closed') return undefined;
      await condition(() => this.stirred, Math.max(step.until - Date.now(), 1), {
        summary: fitSummary(step.because),
      });
    }
  }

  /** Temporal was asked to cancel the execution: by its UI, its command line or another client. */
  cancelledByTemporal(): void {
    if (this.record.status !== 'cancelled') this.machine.act('cancel', 'temporal');
  }

  private act(action: Action, operator: unknown): DeliveryRecord {
    this.machine.act(action, operatorName(operator), replayIn(operator));
    this.stirred = true;
    return this.record;
  }

  private refuse(action: Action): void {
    const detail = this.machine.refusal(action);
    if (detail) throw ApplicationFailure.create({ type: 'refused', message: detail, nonRetryable: true });
  }
}

/** Writes what happened and what comes next where operators look: search attribute (on change), memo, current details. */
function show(record: DeliveryRecord, statusChanged: boolean): void {
  if (statusChanged) upsertSearchAttributes([{ key: STATUS_ATTRIBUTE, value: record.status }]);
  upsertMemo({ delivery: record });
  setCurrentDetails(record.reason ?? record.status);
}

/** The record of a delivery that succeeded at once; `null` if it did not. */
export function deliveredRecord(report: AttemptReport | null | undefined): DeliveryRecord | null {
  if (report?.kind !== 'attempted' || report.outcome !== 'delivered') return null;
  const { attempt } = report;
  return {
    status: 'delivered',
    attempts: [attempt],
    reason: `Attempt ${attempt.number} ${describeAttempt(attempt)}.`,
  };
}
