import type { ArchivedDelivery, ArchivedEvent, ListedDelivery } from '../../../domain/archive/archived.js';
import type { DeliveryRecord } from '../../../domain/archive/record.js';
import type { AcceptedEvent, ShownRecord } from '../../../domain/delivery/delivery.js';
import { NOTHING_YET, type TimelineItem, timelineOf } from '../../../domain/explain/timeline.js';
import { type AttemptView, lastOf, viewAttempt } from '../attempt-view.js';
import { type Delivery, type DeliverySummary, type EarlierRun, earlierRun } from '../delivery-view.js';

/** What a delivery that is read by itself has besides what lists show. */
type Detail = Omit<Delivery, keyof DeliverySummary>;

/** An archived delivery as lists show it. */
export function summaryIn({ summary }: ListedDelivery): DeliverySummary {
  return JSON.parse(summary) as DeliverySummary;
}

/** The latest attempt of an archived delivery, as its record has it; nothing if it has none. */
export function lastAttemptIn({ record }: ListedDelivery): Pick<DeliverySummary, 'last_attempt'> {
  const last_attempt = lastOf((JSON.parse(record) as DeliveryRecord).attempts);
  return last_attempt ? { last_attempt } : {};
}

/** An archived delivery with everything that happened to it; without its detail, as far as its record says. */
export function deliveryIn(archived: ArchivedDelivery): Delivery {
  const { detail } = archived;
  return {
    ...summaryIn(archived),
    ...(detail === undefined ? recordedDetail(archived) : (JSON.parse(detail) as Detail)),
  };
}

/** The timeline of an archived delivery; without it, as far as its record says. */
export function timelineIn(archived: ArchivedDelivery): TimelineItem[] {
  if (archived.timeline !== undefined) return JSON.parse(archived.timeline) as TimelineItem[];
  const { event_id, event_kind, payload_bytes = 0, ...record } = recordIn(archived);
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

/**
 * A timeline with what happened before its first run, if that is past Temporal's retention. Incidents of the endpoint
 * can be told by both.
 */
export function withEarlier(items: TimelineItem[], archived: readonly TimelineItem[] = []): TimelineItem[] {
  const first = items.find(({ type }) => type === 'started')?.at ?? '';
  const earlier = archived.filter(({ at }) => at < first);
  const told = new Set(earlier.map((item) => JSON.stringify(item)));
  const others = items.filter((item) => !told.has(JSON.stringify(item)));
  return [...earlier, ...others].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

/** An archived delivery as one of its runs before it was sent again. */
export function earlierRunsIn(archived: ArchivedDelivery): EarlierRun[] {
  const { earlier_runs = [], ...delivery } = deliveryIn(archived);
  return [earlierRun(delivery, delivery), ...earlier_runs];
}

/** All runs of an archived delivery with their attempts, newest first. */
export function runsIn(archived: ArchivedDelivery): Pick<EarlierRun, 'run_id' | 'attempts'>[] {
  const { run_id, attempts, earlier_runs = [] } = deliveryIn(archived);
  return [{ run_id, attempts }, ...earlier_runs];
}

function recordIn({ record }: ArchivedDelivery): DeliveryRecord {
  return JSON.parse(record) as DeliveryRecord;
}

function recordedDetail(archived: ArchivedDelivery): Detail {
  const { created_at } = summaryIn(archived);
  const { attempts, interventions, earlier_runs, payload_bytes } = recordIn(archived);
  return {
    payload_sha256: undefined,
    payload_erased: true,
    cause: undefined,
    asked_to_wait: undefined,
    payload_bytes,
    attempts: attempts.map((attempt): AttemptView => viewAttempt(attempt)),
    interventions,
    earlier_runs: earlier_runs?.map(({ run_id, status, started_at, closed_at }) => ({
      run_id,
      status,
      created_at,
      started_at,
      closed_at,
      reason: undefined,
      attempts: [],
    })),
  };
}

/** An archived event as its deliveries are started with it; `undefined` if its payload cannot be read any more. */
export function acceptedEventIn(event: ArchivedEvent): AcceptedEvent | undefined {
  const { id, account_id, event_kind, kept, payload, payload_bytes, accepted_at, keys, sequence, is_test } =
    event;
  if (!kept || payload === undefined) return undefined;
  return {
    account_id,
    event_id: id,
    event_kind,
    payload: kept.sealed,
    sealed: { commitment: kept.commitment, bytes: payload_bytes },
    accepted_at: accepted_at.toISOString(),
    ...(keys.length > 0 && { keys: [...keys] }),
    ...(sequence !== undefined && { sequence }),
    ...(is_test && { is_test }),
  };
}
