import type { Client } from '@temporalio/client';
import { isClosed } from '../../../domain/delivery/delivery.js';
import { subjectMark } from '../../../domain/ledger/sealed-event.js';
import { keyIdOf } from '../../../domain/privacy/data-key.js';
import type { ErasurePlan, ErasureScope } from '../../../domain/privacy/erasure.js';
import { unlessStateConflicts } from '../../errors.js';
import { clausesOf, matchingRows } from '../../read/delivery-filter.js';
import { newestRuns } from '../../read/earlier-runs.js';
import { readStartedEvent } from '../../read/history.js';
import type { Located } from '../../read/row-reader.js';
import { everyExecution } from '../../read/visibility/visibility.js';
import type { DeliveryControl } from '../delivery-control.js';

/** How many deliveries of a subject are open, and how many this call cancelled. */
export interface OpenOfSubject {
  open: number;
  cancelled: number;
}

/** Finds the deliveries of events that one data key sealed, by the mark of the key in search attributes. */
export class SubjectDeliveries {
  private readonly client: Client;
  private readonly control: DeliveryControl;

  constructor(client: Client, control: DeliveryControl) {
    this.client = client;
    this.control = control;
  }

  /** How much Temporal keeps of a subject. */
  async scope(plan: ErasurePlan): Promise<ErasureScope> {
    const rows = await this.find(plan);
    return {
      events: new Set(rows.map(({ row }) => row.summary.event_id)).size,
      deliveries: rows.length,
      open_deliveries: rows.filter(isOpen).length,
    };
  }

  /** Counts the open deliveries of a subject that were accepted before the erasure was asked for. */
  async countOpen(plan: ErasurePlan): Promise<number> {
    const rows = await this.find(plan);
    return rows.filter((one) => isOpen(one) && one.row.summary.created_at <= plan.requested_at).length;
  }

  /**
   * Cancels the open deliveries of a subject. One with an attempt in flight stays open: it ends with that attempt or
   * the next one, which finds no key.
   *
   * @param onProgress called after each delivery
   */
  async cancelOpen(plan: ErasurePlan, onProgress: () => void): Promise<OpenOfSubject> {
    const result = { open: 0, cancelled: 0 };
    for (const located of (await this.find(plan)).filter(isOpen)) {
      if (await this.isSealedBy(plan, located)) result[await this.cancel(plan, located)] += 1;
      onProgress();
    }
    return result;
  }

  private async cancel(
    { account_id, erasure_id }: ErasurePlan,
    { row: { summary } }: Located,
  ): Promise<keyof OpenOfSubject> {
    const cancel = this.control.act('cancel', account_id, summary, { by: erasure_id });
    return (await unlessStateConflicts(cancel)) ? 'cancelled' : 'open';
  }

  private async find({ account_id, key_id }: ErasurePlan): Promise<Located[]> {
    const filter = { key_token: subjectMark(key_id) };
    const rows: Located[] = [];
    for await (const execution of everyExecution(this.client, clausesOf(account_id, filter) ?? []))
      for (const row of matchingRows(execution, account_id, filter)) rows.push({ execution, row });
    return newestRuns(rows, rows);
  }

  /** A mark is a part of a key's id: two keys of an account could have the same one. */
  private async isSealedBy({ key_id }: ErasurePlan, { execution, row }: Located): Promise<boolean> {
    const event = await readStartedEvent(this.client, execution, row.summary.event_id);
    return event?.sealed !== undefined && keyIdOf(event.payload) === key_id;
  }
}

function isOpen({ row }: Located): boolean {
  return !isClosed(row.summary.status);
}
