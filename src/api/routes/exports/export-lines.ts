import { parseDeliveryId } from '../../../domain/basics/ids.js';
import type { ExportedEvent } from '../../../models/archive/archive-export.js';
import { deliveryIn } from '../../../temporal/read/archive/archived-views.js';

/** The id of the event that a cursor is in: that of an event, or of one of its deliveries. */
export function eventOfCursor(after: string): string {
  return parseDeliveryId(after)?.event_id ?? after;
}

/**
 * The lines of an export: an event, then each of its deliveries. The same archive gives the same bytes, so an export that was interrupted goes on
 * behind the last whole line.
 *
 * @param after the cursor of the last line that was received; absent: from the beginning
 */
export async function* exportLines(
  events: AsyncIterable<ExportedEvent>,
  after: string | undefined,
): AsyncIterable<string> {
  const begun = after === undefined ? undefined : eventOfCursor(after);
  for await (const { event, deliveries } of events) {
    const { id, event_kind: kind, accepted_at, payload_bytes, payload } = event;
    const head = { type: 'event', after: id, id, kind, created_at: accepted_at.toISOString(), payload_bytes };
    // The payload is put in as it was received: parsing it would change numbers that JavaScript cannot hold.
    if (id !== begun) yield `${JSON.stringify(head).slice(0, -1)},"payload":${payload ?? 'null'}}\n`;
    for (const delivery of deliveries) {
      if (id === begun && after !== undefined && after.startsWith('dlv_') && delivery.id <= after) continue;
      const { id: cursor, record } = delivery;
      const line = { type: 'delivery', after: cursor, delivery: deliveryIn(delivery) };
      // So is the record: its bytes are what the log has a leaf of.
      yield `${JSON.stringify(line).slice(0, -1)},"record":${record}}\n`;
    }
  }
}
