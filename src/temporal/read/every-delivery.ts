import type { RowFilter } from '../../domain/list/delivery-filter.js';
import type { RecordReads } from '../../domain/records/stored.js';
import type { DeliverySummary } from '../../domain/view/delivery-view.js';
import { type ExtendedRow, listRows, type RowExtra, withExtras } from './delivery-reader.js';
import type { Page } from './visibility/visibility.js';

/** A delivery, and whose it is. */
type AccountDelivery = DeliverySummary & { account_id: string };

/**
 * A page of the deliveries of all accounts, for the operator alone: open ones first, then the latest closed.
 *
 * @param filter by what rows tell
 * @param extras what rows show besides
 * @throws InvalidCursorError if the cursor did not come from this list
 */
export async function listEveryDelivery(
  records: RecordReads,
  filter: RowFilter,
  limit: number,
  after?: string,
  extras: readonly RowExtra[] = [],
): Promise<Page<ExtendedRow<AccountDelivery>>> {
  const { data, ...rest } = await listRows(records, undefined, filter, limit, after);
  const shown = await withExtras(records, data, extras, ({ stored }) => stored.account_id);
  const owned = shown.map((row, at) => ({ account_id: data[at]?.stored.account_id ?? '', ...row }));
  return { ...rest, data: owned };
}
