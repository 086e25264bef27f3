import { omit, present } from '../basics/objects.js';
import type { NamedEvent, ShownRecord } from '../delivery/delivery.js';
import { NOTHING_YET, type TimelineItem, timelineOf } from '../explain/timeline.js';
import { type AttemptView, viewAttempt } from '../view/attempt-view.js';
import type { Delivery, DeliverySummary, EarlierRun } from '../view/delivery-view.js';
import type { CanonicalDelivery } from './record.js';
import type { WholeDelivery } from './row/whole-delivery.js';
import type { RowFacts } from './row.js';
import type { DeliveryRow, EventRow, ListedDelivery } from './stored.js';

/** Fields of a delivery that lists do not show. */
type Detail = Omit<Delivery, keyof DeliverySummary>;
type StoredDetail = Detail & Pick<WholeDelivery, 'progress'>;

/** A stored delivery as lists show it. */
export function summaryIn({ summary }: Pick<ListedDelivery, 'summary'>): DeliverySummary {
  return omit(parsed(summary), 'last_attempt', 'max_attempts', 'paused', 'in_order');
}

/** Facts that lists show of a stored delivery only if they are asked to. */
export function factsIn({ summary }: Pick<ListedDelivery, 'summary'>): RowFacts {
  const { last_attempt, max_attempts, paused, in_order } = parsed(summary);
  return present({ last_attempt, max_attempts, paused, in_order });
}

function parsed(summary: string): DeliverySummary & RowFacts {
  return JSON.parse(summary) as DeliverySummary & RowFacts;
}

/** A delivery as its row has it, with everything that happened to it; without its detail, as far as its record says. */
export function deliveryIn(recorded: DeliveryRow): Delivery {
  const { detail } = recorded;
  if (detail === undefined) return { ...summaryIn(recorded), ...recordedDetail(recorded) };
  const { progress: _, ...shown } = JSON.parse(detail) as StoredDetail;
  return { ...summaryIn(recorded), ...shown };
}

/** A stored delivery with all that its row says of it. */
export function wholeIn(recorded: DeliveryRow): WholeDelivery {
  const { progress } = JSON.parse(recorded.detail ?? '{}') as Partial<StoredDetail>;
  const { max_attempts } = factsIn(recorded);
  return { delivery: deliveryIn(recorded), timeline: timelineIn(recorded), progress, max_attempts };
}

/** The timeline of a delivery as its row has it; without it, as far as its record says. */
export function timelineIn(recorded: DeliveryRow): TimelineItem[] {
  if (recorded.timeline !== undefined) return JSON.parse(recorded.timeline) as TimelineItem[];
  const { event_id, event_kind } = recorded;
  const { payload_bytes = 0, ...record } = recordIn(recorded);
  const { status, started_at, closed_at, workflow_id, run_id, attempts, interventions } = record;
  const started = { at: started_at, type: 'started', text: 'Started.', workflow_id, run_id } as const;
  const closed: ShownRecord = {
    status,
    attempts,
    ...(closed_at !== undefined && { closed_at }),
    ...(interventions && { interventions }),
  };
  const run = { started, before: NOTHING_YET, entries: [{ at: closed_at ?? started_at, record: closed }] };
  return timelineOf({ event_id, event_kind, payload_bytes }, [run], { closedAt: closed_at });
}

/** All runs of a delivery with their attempts, newest first. */
export function runsIn(recorded: DeliveryRow): Pick<EarlierRun, 'run_id' | 'attempts'>[] {
  const { run_id, attempts, earlier_runs = [] } = deliveryIn(recorded);
  return [{ run_id, attempts }, ...earlier_runs];
}

/** The record of a delivery, or of an open one what its row says of it without its key. */
function recordIn(
  recorded: DeliveryRow,
): Omit<ShownRecord, 'attempts' | 'interventions'> &
  Pick<CanonicalDelivery, 'attempts' | 'interventions' | 'earlier_runs' | 'payload_bytes' | 'workflow_id'> &
  Pick<CanonicalDelivery, 'run_id' | 'started_at'> {
  if (recorded.record !== undefined) return JSON.parse(recorded.record) as CanonicalDelivery;
  const { status, started_at, workflow_id, run_id } = summaryIn(recorded);
  return { status, started_at, workflow_id, run_id, attempts: [] };
}

function recordedDetail(recorded: DeliveryRow): Detail {
  const { created_at } = summaryIn(recorded);
  const { attempts, interventions, earlier_runs, payload_bytes } = recordIn(recorded);
  return {
    payload_sha256: undefined,
    payload_erased: true,
    cause: undefined,
    asked_to_wait: undefined,
    payload_bytes,
    attempts: attempts.map((attempt): AttemptView => viewAttempt(attempt)),
    interventions,
    earlier_runs: earlier_runs?.map(({ run_id, status, started_at, closed_at }) => ({
      ...{ run_id, status, created_at, started_at, closed_at },
      reason: undefined,
      attempts: [],
    })),
  };
}

/** A stored event as its deliveries are started with it; `undefined` if its payload cannot be read any more. */
export function startableIn(event: EventRow): NamedEvent | undefined {
  const { id: event_id, account_id, event_kind, kept, payload, accepted_at } = event;
  if (!kept || payload === undefined) return undefined;
  return { account_id, event_id, event_kind, accepted_at: accepted_at.toISOString() };
}
