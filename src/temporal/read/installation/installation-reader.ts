import type { Client } from '@temporalio/client';
import { ACCOUNT_ATTRIBUTE } from '../../../domain/ledger/search-attributes.js';
import { replayWorkflowId } from '../../../domain/ledger/workflow-ids.js';
import type { RowFilter } from '../../../domain/list/delivery-filter.js';
import type { RecordReads } from '../../../domain/records/stored.js';
import type { DeliverySummary } from '../../../domain/view/delivery-view.js';
import { type ExtendedRow, listRows, type RowExtra, withExtras } from '../delivery-reader.js';
import { beginsWith } from '../visibility/query.js';
import { listExecutions, type Page } from '../visibility/visibility.js';

/** A delivery, and whose it is. */
type AccountDelivery = DeliverySummary & { account_id: string };

/** Reads over all accounts, for the operator alone. */
export class InstallationReader {
  private readonly client: Client;
  private readonly records: RecordReads;

  constructor(client: Client, records: RecordReads) {
    this.client = client;
    this.records = records;
  }

  /**
   * A page of deliveries: open ones first, then the latest closed.
   *
   * @param filter by what rows tell
   * @param extras what rows show besides
   * @throws InvalidCursorError if the cursor did not come from this list
   */
  async deliveries(
    filter: RowFilter,
    limit: number,
    after?: string,
    extras: readonly RowExtra[] = [],
  ): Promise<Page<ExtendedRow<AccountDelivery>>> {
    const { data, ...rest } = await listRows(this.records, undefined, filter, limit, after);
    const shown = await withExtras(this.records, data, extras, ({ stored }) => stored.account_id);
    const owned = shown.map((row, at) => ({ account_id: data[at]?.stored.account_id ?? '', ...row }));
    return { ...rest, data: owned };
  }

  /** The account of a replay that Temporal has; `undefined` if it has none of that id. */
  async accountOfReplay(replayId: string): Promise<string | undefined> {
    const begin = replayWorkflowId('', replayId);
    const [first] = await listExecutions(this.client, [beginsWith('WorkflowId', begin)], 1);
    return first?.typedSearchAttributes.get(ACCOUNT_ATTRIBUTE)?.[0];
  }
}
