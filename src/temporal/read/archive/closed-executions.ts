import { type ArchiveReads, positionAt, runOrder } from '../../../domain/archive/archived.js';
import { firstThatFit, MAX_EARLIER_RUNS_BYTES, MAX_TIMELINE_BYTES } from '../../../domain/archive/fitting.js';
import { isRecordAltered } from '../../../domain/archive/record-altered.js';
import type {
  DeliveryToArchive,
  EventToArchive,
  ExecutionToArchive,
  RunKey,
} from '../../../domain/archive/to-archive.js';
import { idTime } from '../../../domain/basics/id-time.js';
import { type AcceptedEvent, isClosed } from '../../../domain/delivery/delivery.js';
import type { TimelineItem } from '../../../domain/explain/timeline.js';
import { payloadBytes } from '../../../domain/ledger/sealed-event.js';
import { sumsOf } from '../../../domain/list/attempt-filter.js';
import { sharedDate } from '../../../domain/time/shared-time.js';
import { readDelivery } from '../delivery-detail.js';
import { type Delivery, type DeliveryRow, type DeliverySummary, deliveriesOf } from '../delivery-view.js';
import { previousRun } from '../earlier-runs.js';
import { readInput, startedIn } from '../history.js';
import type { LedgerSources } from '../locate.js';
import { type Located, RowReader } from '../row-reader.js';
import type { IncidentsOfPeriod } from '../timeline/timeline-incidents.js';
import { TimelineReader } from '../timeline/timeline-reader.js';
import { EVERY_ACCOUNT } from '../visibility/clauses.js';
import type { Execution } from '../visibility/visibility.js';
import { earlierRunsIn, timelineIn, withEarlier } from './archived-views.js';
import { withWholeHistories } from './whole-histories.js';

/** A closed delivery in its execution, and what is known of it before it is read. */
export interface ClosedRow {
  row: DeliveryRow;
  run: RunKey;
}

type ClosedSources = LedgerSources & { incidents: IncidentsOfPeriod };

/** The closed deliveries that an execution stands for. */
export function closedRowsOf(execution: Execution): ClosedRow[] {
  return deliveriesOf(execution, EVERY_ACCOUNT)
    .filter(({ summary }) => isClosed(summary.status))
    .map((row) => ({ row, run: runOf(execution, row.summary, row.index) }));
}

/**
 * What closed deliveries of an execution leave to the archive: each as readers of the ledger show it, and their events.
 *
 * @param sources `sealer` opens what the execution holds sealed; what is kept of that is sealed again with the same key
 * @param rows those that are wanted, of {@link closedRowsOf}
 */
export async function readClosed(
  { client, sealer, archive, incidents }: ClosedSources,
  execution: Execution,
  rows: readonly ClosedRow[],
): Promise<ExecutionToArchive> {
  const whole = withWholeHistories(client);
  const input = await readInput(whole, execution);
  const reader = new RowReader(whole);
  const timelines = new TimelineReader(whole, { incidents: (_, ...asked) => incidents.of(...asked) });
  const events = new Map<string, EventToArchive>();
  const deliveries: DeliveryToArchive[] = [];
  for (const { row } of rows) {
    const located = { execution, row };
    const started = startedIn(input, row.summary.event_id);
    if (!started) continue;
    // Of a delivery that was sent again, Temporal may have removed the runs before.
    const before = previousRun(execution) && (await intactIn(archive, row.account_id, row.summary.id));
    const known = { rows: reader, started, ...(before && { earlier: earlierRunsIn(before) }) };
    const delivery = await readDelivery(whole, sealer, located, known);
    const items = await timelines.tell(located, started.event, delivery.closed_at);
    const timeline = before ? withEarlier(items, timelineIn(before)) : items;
    deliveries.push(toArchive(located, started.event, delivery, timeline));
    events.set(started.event.event_id, eventOf(started.event, execution));
  }
  return { deliveries, events: [...events.values()] };
}

/** An archived delivery, if it is what was archived: what somebody has altered goes into no new record. */
async function intactIn(archive: ArchiveReads, accountId: string, id: string) {
  try {
    return await archive.delivery(accountId, id);
  } catch (error) {
    if (isRecordAltered(error)) return undefined;
    throw error;
  }
}

function toArchive(
  { execution, row }: Located,
  { keys = [] }: AcceptedEvent,
  delivery: Delivery,
  timeline: TimelineItem[],
): DeliveryToArchive {
  const {
    attempts,
    interventions,
    cause,
    asked_to_wait,
    earlier_runs,
    payload_sha256,
    payload_bytes,
    payload_erased,
    ...summary
  } = delivery;
  const earlier = earlier_runs && firstThatFit(earlier_runs, MAX_EARLIER_RUNS_BYTES);
  const detail = {
    attempts,
    interventions,
    cause,
    asked_to_wait,
    earlier_runs: earlier,
    payload_sha256,
    payload_bytes,
    payload_erased,
  };
  const newestFirst = firstThatFit([...timeline].reverse(), MAX_TIMELINE_BYTES);
  const last = attempts.at(-1);
  return {
    account_id: row.account_id,
    event_id: delivery.event_id,
    endpoint_id: delivery.endpoint_id,
    event_kind: delivery.event_kind,
    status: delivery.status,
    accepted_at: new Date(idTime(delivery.event_id)),
    keys,
    error_code: last?.error_code,
    status_code: last?.status_code,
    ...sumsOf([...attempts, ...(earlier_runs ?? []).flatMap((run) => run.attempts)]),
    ...runOf(execution, delivery, row.index),
    summary: JSON.stringify(summary),
    detail: JSON.stringify(detail),
    timeline: JSON.stringify([...newestFirst].reverse()),
    closed: delivery,
  };
}

function runOf(
  execution: Execution,
  { id, run_id, started_at, closed_at }: DeliverySummary,
  index: number,
): RunKey {
  // A delivery in a group that is still open is listed by its own end until the group has closed.
  const closed = execution.closeTime ?? new Date(closed_at ?? started_at);
  const position = positionAt(closed, run_id, index);
  return { id, run_id, run_order: runOrder(started_at, execution.startTime), position };
}

function eventOf(event: AcceptedEvent, { closeTime }: Execution): EventToArchive {
  const { account_id, event_id, event_kind, payload, sealed, keys = [], sequence, is_test } = event;
  return {
    id: event_id,
    account_id,
    event_kind,
    accepted_at: new Date(idTime(event_id)),
    keys,
    payload,
    ...(sealed && { sealed }),
    payload_bytes: payloadBytes(event),
    ...(sequence !== undefined && { sequence }),
    ...(is_test && { is_test }),
    closed_at: closeTime ?? sharedDate(),
  };
}
