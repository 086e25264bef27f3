import { createdAt } from '../../../domain/basics/id-time.js';
import { isClosed } from '../../../domain/delivery/delivery.js';
import { subjectMark } from '../../../domain/delivery/sealed-event.js';
import { keyIdOf } from '../../../domain/privacy/data-key.js';
import type { ErasurePlan, ErasureScope } from '../../../domain/privacy/erasure.js';
import type { RowSearch } from '../../../domain/records/row-search.js';
import type { ListedDelivery } from '../../../domain/records/stored.js';
import { unlessStateConflicts } from '../../errors.js';
import { notBegun } from '../../read/backlog/not-begun.js';
import type { DeliveryControl } from '../delivery-control.js';

/** How many deliveries of a subject are open, and how many this call cancelled. */
export interface OpenOfSubject {
  open: number;
  cancelled: number;
}

/** Finds the deliveries of events that one data key sealed, by the mark of the key in their rows. */
export class SubjectDeliveries {
  private readonly rows: Pick<RowSearch, 'marked' | 'keyOf' | 'withoutRows'>;
  private readonly control: DeliveryControl;

  constructor(rows: Pick<RowSearch, 'marked' | 'keyOf' | 'withoutRows'>, control: DeliveryControl) {
    this.rows = rows;
    this.control = control;
  }

  /** How much is kept of a subject. */
  async scope(plan: ErasurePlan): Promise<ErasureScope> {
    const events = new Set<string>();
    const scope = { deliveries: 0, open_deliveries: 0 };
    for await (const row of this.find(plan, 'all')) {
      events.add(row.event_id);
      scope.deliveries += 1;
      if (!isClosed(row.status)) scope.open_deliveries += 1;
    }
    return { events: events.size, ...scope };
  }

  /** Counts the open deliveries of a subject that were accepted before the erasure was asked for. */
  async countOpen(plan: ErasurePlan): Promise<number> {
    let open = 0;
    const isBefore = ({ event_id }: { event_id: string }) => createdAt(event_id) <= plan.requested_at;
    // These first: what gets a row meanwhile is counted again, and not missed.
    for await (const some of notBegun(this.rows, plan.account_id))
      open += some.filter(
        ({ marks, ...one }) => marks.includes(subjectMark(plan.key_id)) && isBefore(one),
      ).length;
    for await (const row of this.find(plan, 'open')) if (isBefore(row)) open += 1;
    return open;
  }

  /**
   * Cancels the open deliveries of a subject. One with an attempt in flight stays open: it ends with that attempt or
   * the next one, which finds no key.
   *
   * @param onProgress called after each delivery
   */
  async cancelOpen(plan: ErasurePlan, onProgress: () => void): Promise<OpenOfSubject> {
    const result = { open: 0, cancelled: 0 };
    for await (const row of this.find(plan, 'open')) {
      if (await this.isSealedBy(plan, row)) result[await this.cancel(plan, row)] += 1;
      onProgress();
    }
    return result;
  }

  private async cancel(
    { account_id, erasure_id }: ErasurePlan,
    row: ListedDelivery,
  ): Promise<keyof OpenOfSubject> {
    const cancel = this.control.act('cancel', account_id, row, { by: erasure_id });
    return (await unlessStateConflicts(cancel)) ? 'cancelled' : 'open';
  }

  private async *find(
    { account_id, key_id }: ErasurePlan,
    which: 'open' | 'all',
  ): AsyncIterable<ListedDelivery> {
    for await (const some of this.rows.marked(account_id, subjectMark(key_id), which)) yield* some;
  }

  /** A mark is a part of a key's id: two keys of an account could have the same one. */
  private async isSealedBy({ key_id }: ErasurePlan, { event_id }: ListedDelivery): Promise<boolean> {
    const key = await this.rows.keyOf(event_id);
    return key !== undefined && keyIdOf(key) === key_id;
  }
}
