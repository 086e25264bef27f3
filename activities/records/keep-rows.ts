import { deliveryId } from '../../src/domain/basics/delivery-id.js';
import { type End, endKindOf, type UnannouncedEnds } from '../../src/domain/delivery/end-notice.js';
import { isOperational } from '../../src/domain/event/event-kinds.js';
import { endOf } from '../../src/domain/explain/timeline.js';
import type { DeliveryRows, Told } from '../../src/domain/records/told.js';
import type { EndpointDirectory } from '../endpoint/endpoint-directory.js';

/** Where rows and ends of deliveries are kept. */
export interface KeepRowsPorts {
  rows: DeliveryRows;
  endpoints: Pick<EndpointDirectory, 'isWatched'>;
  ends: UnannouncedEnds;
}

/** Activities that store rows of deliveries by the reports of their execution. */
export function createKeepRows({ rows, endpoints, ends }: KeepRowsPorts) {
  /** @returns whether nothing else was told of them later */
  return async function keepRows(told: Told, isNew?: boolean): Promise<boolean> {
    // Before they are kept, so that no end that is kept stays unannounced.
    const noted = await endsIn(told);
    await ends.note(noted);
    const overtaken = await rows.keep(told, isNew);
    await withdrawUntrue(noted.filter(({ delivery_id }) => overtaken.has(delivery_id)));
    return overtaken.size === 0;
  };

  /** Takes back ends that a task has told late that was taken for lost: the delivery may have gone on meanwhile. */
  async function withdrawUntrue(late: readonly End[]): Promise<void> {
    const [first] = late;
    if (!first) return;
    const recorded = await rows.recorded(first.run_id, late);
    const untrue = late.filter(({ delivery_id, kind }) => {
      const snapshot = recorded.get(delivery_id);
      return snapshot && endKindOf(snapshot.record.status) !== kind;
    });
    if (untrue.length > 0) await ends.withdraw(untrue);
  }

  /** Deliveries that have ended without success, of whose ends their accounts want to hear. */
  async function endsIn({ run, deliveries }: Told): Promise<End[]> {
    const found = deliveries.map(async (one): Promise<End[]> => {
      const { event_id, endpoint_id, account_id, event_kind, snapshot } = one;
      const kind = endKindOf(snapshot.record.status);
      if (!kind || isOperational(event_kind) || !(await endpoints.isWatched(account_id, kind))) return [];
      const closed_at = new Date(endOf(snapshot.record) ?? run.started_at);
      const end = { account_id, endpoint_id, kind, event_id, event_kind, closed_at, run_id: run.run_id };
      return [{ ...end, delivery_id: deliveryId(one) }];
    });
    return (await Promise.all(found)).flat();
  }
}
