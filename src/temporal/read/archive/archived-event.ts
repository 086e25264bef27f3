import type { ArchivedEvent, ArchiveReads, ListedDelivery } from '../../../domain/archive/archived.js';
import type { AcceptedEvent } from '../../../domain/delivery/delivery.js';
import type { EventWithPayload } from '../event/event-view.js';
import type { FanOutProgress } from '../event/fan-out-progress.js';
import { summaryIn } from './archived-views.js';

/** In place of an archive, where there is none. */
export const NO_ARCHIVE: ArchiveReads = {
  completeUntil: async () => undefined,
  delivery: async () => undefined,
  whole: async () => new Map(),
  deliveriesOf: async () => [],
  deliveries: async () => [],
  event: async () => undefined,
  events: async () => [],
};

/** An archived event as it is read by itself. */
export function archivedEvent(event: ArchivedEvent, deliveries: readonly ListedDelivery[]): EventWithPayload {
  const { id, event_kind: kind, accepted_at, payload, kept, sequence, is_test } = event;
  return {
    id,
    kind,
    created_at: accepted_at.toISOString(),
    ...(sequence !== undefined && { sequence }),
    ...(is_test && { is_test }),
    payload,
    is_erased: kept !== undefined && payload === undefined,
    fan_out: fanOutIn(event),
    deliveries: deliveries.map(summaryIn),
  };
}

/** How many deliveries of an archived event its fan-out has started; `undefined` if it had none. */
export function fanOutIn({ fan_out }: ArchivedEvent): FanOutProgress | undefined {
  return fan_out === undefined ? undefined : (JSON.parse(fan_out) as FanOutProgress);
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
