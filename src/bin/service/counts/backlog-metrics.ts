import { Counter, Gauge, type Registry } from 'prom-client';
import { withTimeout } from '../../../domain/basics/with-timeout.js';
import { OPEN_STATUSES } from '../../../domain/delivery/delivery.js';
import { BacklogCount } from '../../../domain/stats/backlog.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { BacklogReader } from '../../../temporal/read/backlog/backlog-reader.js';

/**
 * A reading is shown for this long, milliseconds, and a slow one for longer: reading takes at most this part of the
 * time.
 */
const SHOWN_MS = 10_000;
const PART = 20;

/**
 * How long a response waits for a reading, milliseconds; Prometheus waits for ten seconds. One that comes later is
 * shown next time.
 */
const WAIT_MS = 3_000;

/**
 * Reads the backlog of the whole installation for the metrics, when they are asked for.
 *
 * @param shownMs how long a reading is shown, milliseconds
 * @returns brings the gauges up to date, unless they are, or it takes too long
 */
export function createBacklogMetrics(
  registry: Registry,
  reader: Pick<BacklogReader, 'read' | 'openIncidents'>,
  shownMs: number = SHOWN_MS,
): () => Promise<void> {
  const gauges = createGauges(registry);
  let reading: Promise<void> | undefined;
  let nextAt = 0;

  const read = async (): Promise<void> => {
    const began = sharedNow();
    try {
      const [open, incidents] = await Promise.all([reader.read({}), reader.openIncidents()]);
      const count = new BacklogCount(open.overdueBefore);
      for (const delivery of open.deliveries) count.add(delivery);
      const { by_status, overdue, oldest_created_at, overdue_since } = count.result;
      for (const status of OPEN_STATUSES) gauges.deliveries.set({ status }, by_status[status]);
      gauges.oldest.set(secondsSince(oldest_created_at, open.at));
      gauges.overdue.set(overdue);
      gauges.overdueFor.set(secondsSince(overdue_since, open.at));
      gauges.complete.set(open.isComplete ? 1 : 0);
      if (incidents === undefined) gauges.incidents.remove();
      else gauges.incidents.set(incidents);
    } catch {
      forget(gauges);
      gauges.failures.inc();
    }
    nextAt = sharedNow() + Math.max(shownMs, PART * (sharedNow() - began));
  };

  forget(gauges);
  return async () => {
    if (sharedNow() >= nextAt) {
      reading ??= read().finally(() => {
        reading = undefined;
      });
    }
    if (reading !== undefined) await withTimeout(WAIT_MS, reading).catch(() => {});
  };
}

/** Numbers that nobody knows are not shown, so that an alert can tell. */
function forget({ deliveries, failures: _, ...others }: ReturnType<typeof createGauges>): void {
  deliveries.reset();
  for (const gauge of Object.values(others)) gauge.remove();
}

function createGauges(registry: Registry) {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] });
  return {
    deliveries: new Gauge({
      name: 'hookline_backlog_deliveries',
      help: 'Open deliveries of the installation, by status',
      labelNames: ['status'],
      registers: [registry],
    }),
    oldest: gauge('hookline_backlog_oldest_seconds', 'Age of the oldest event with an open delivery'),
    overdue: gauge(
      'hookline_backlog_overdue',
      'Open deliveries that have been due for longer than an attempt can take, without a result',
    ),
    overdueFor: gauge(
      'hookline_backlog_overdue_seconds',
      'How long the longest overdue delivery has been due',
    ),
    complete: gauge(
      'hookline_backlog_complete',
      '1 if all open deliveries were counted; 0 if there are more than are read, so that the numbers are the least there can be',
    ),
    incidents: gauge('hookline_incidents_open', 'Endpoints that are failing'),
    failures: new Counter({
      name: 'hookline_backlog_read_failures_total',
      help: 'Times that the backlog could not be read',
      registers: [registry],
    }),
  };
}

function secondsSince(time: string | undefined, now: number): number {
  return time === undefined ? 0 : Math.max(now - Date.parse(time), 0) / 1_000;
}
