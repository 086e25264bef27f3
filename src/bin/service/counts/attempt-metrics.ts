import { Counter, Histogram, type Registry } from 'prom-client';
import type { AttemptObserver } from '../../../../activities/delivery/attempt-delivery.js';
import { ATTEMPT_ERROR_CODES, type Attempt } from '../../../domain/attempt/attempt.js';
import type { AttemptReport } from '../../../domain/attempt/attempt-report.js';
import { type Answer, decide } from '../../../domain/attempt/outcome.js';
import { idTime } from '../../../domain/basics/id-time.js';
import { CLOSED_STATUSES } from '../../../domain/delivery/delivery.js';
import type { Closing } from '../../../domain/stats/closing.js';

/** One of each kind, as labels tell them apart. */
const ANSWERS: readonly Answer[] = [
  ...[200, 300, 400, 410, 500].map((status_code) => ({ status_code })),
  ...ATTEMPT_ERROR_CODES.map((error_code) => ({ error_code })),
];

const LANES = ['direct', 'isolated'] as const;

type NotMade = Exclude<AttemptReport, { kind: 'attempted' }>;
type Reason = Exclude<NotMade['kind'], 'not_attempted'> | Extract<NotMade, { endpoint: string }>['endpoint'];
const REASONS = Object.keys({
  ...{ deferred: true, out_of_order: true, erased: true, busy: true, failing: true },
  ...{ pending: true, paused: true, disabled: true, deleted: true },
} satisfies Record<Reason, true>);

/** Metrics of a worker about deliveries and attempts. All counters exist from the start, with 0. */
export function createDeliveryMetrics(
  registry: Registry,
): AttemptObserver & { closed(closings: readonly Closing[]): void } {
  const registers = [registry];
  const closed = new Counter({
    name: 'hookline_deliveries_closed_total',
    help: 'Deliveries that were closed, by how',
    labelNames: ['status'],
    registers,
  });
  const attempts = new Counter({
    name: 'hookline_attempts_total',
    help: 'Attempts made, by what they mean for their delivery, and the class of the response or why there was none',
    labelNames: ['outcome', 'response'],
    registers,
  });
  const held = new Counter({
    name: 'hookline_attempts_not_made_total',
    help: 'Attempts that were due and not made: deferred to a turn, or by the state of the endpoint',
    labelNames: ['reason'],
    registers,
  });
  const duration = new Histogram({
    name: 'hookline_attempt_duration_seconds',
    help: 'Time from the beginning of an attempt to the end of its response',
    labelNames: ['outcome', 'lane'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const arrival = new Histogram({
    name: 'hookline_publish_to_arrival_seconds',
    help: 'Time from the acceptance of an event to the success of a delivery, resent ones aside',
    labelNames: ['attempt'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600, 21_600, 86_400, 345_600],
    registers,
  });
  for (const status of CLOSED_STATUSES) closed.inc({ status }, 0);
  for (const reason of REASONS) held.inc({ reason }, 0);
  for (const attempt of ['first', 'later']) arrival.zero({ attempt });
  for (const answer of ANSWERS) {
    const { outcome } = decide(answer, 0);
    attempts.inc({ outcome, response: responseOf(answer) }, 0);
    for (const lane of LANES) duration.zero({ outcome, lane });
  }
  return {
    closed(closings) {
      for (const { status } of closings) closed.inc({ status });
    },
    attempted({ event_id, isolated = false }, report) {
      if (report.kind !== 'attempted') {
        held.inc({ reason: report.kind === 'not_attempted' ? report.endpoint : report.kind });
        return;
      }
      const { attempt, outcome } = report;
      attempts.inc({ outcome, response: responseOf(attempt) });
      duration.observe({ outcome, lane: LANES[isolated ? 1 : 0] }, attempt.duration_ms / 1_000);
      if (outcome !== 'delivered' || attempt.trigger === 'manual') return;
      const arrivedAt = Date.parse(attempt.at) + attempt.duration_ms;
      // Clocks of machines differ by moments.
      const took = Math.max(arrivedAt - idTime(event_id), 0);
      arrival.observe({ attempt: attempt.number === 1 ? 'first' : 'later' }, took / 1_000);
    },
  };
}

/** `2xx`, or the error's code. */
function responseOf({ status_code, error_code }: Pick<Attempt, 'status_code' | 'error_code'>): string {
  return status_code === undefined ? (error_code ?? 'unknown') : `${Math.floor(status_code / 100)}xx`;
}
