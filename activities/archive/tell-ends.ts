import { closedAt } from '../../src/domain/archive/archived.js';
import type { DeliveryToArchive } from '../../src/domain/archive/to-archive.js';
import { type End, endKindOf, noticePayload } from '../../src/domain/delivery/end-notice.js';
import { isOperational } from '../../src/domain/event/event-kinds.js';
import { emitTo } from '../endpoint/endpoint-incident.js';
import type { ActivityDependencies } from '../ports.js';

/**
 * Tells accounts that deliveries have ended without success: together what ends together, and nothing of operational
 * events themselves.
 */
export function createEndTeller({
  endpoints,
  ledger,
  ends,
}: Pick<ActivityDependencies, 'endpoints' | 'ledger' | 'ends'>) {
  async function endOf(delivery: DeliveryToArchive): Promise<End | undefined> {
    const { id, account_id, endpoint_id, event_id, event_kind, status, position, run_id } = delivery;
    const kind = endKindOf(status);
    if (!kind || isOperational(event_kind) || !(await endpoints.isWatched(account_id, kind)))
      return undefined;
    const closed_at = closedAt(position);
    return { account_id, endpoint_id, kind, delivery_id: id, event_id, event_kind, closed_at, run_id };
  }

  return {
    /** Before deliveries are archived, so that none that is archived stays unannounced. */
    async note(deliveries: readonly DeliveryToArchive[]): Promise<void> {
      const ended = await Promise.all(deliveries.map(endOf));
      await ends.note(ended.filter((end) => end !== undefined));
    },

    /** Sends an event for each endpoint whose deliveries have ended. Repeated after a crash, it sends the same ones. */
    async tell(): Promise<void> {
      for (let notice = await ends.next(); notice; notice = await ends.next()) {
        const { account_id, kind, at, name } = notice;
        const event = { account_id, kind, at, transition: name, payload: noticePayload(notice) };
        await emitTo({ endpoints, ledger }, event);
        await ends.told(notice);
      }
    },
  };
}
