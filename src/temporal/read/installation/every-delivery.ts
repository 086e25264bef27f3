import type { Client } from '@temporalio/client';
import type { RowFilter } from '../../../domain/list/delivery-filter.js';
import { clausesOf, matching } from '../delivery-filter.js';
import { atIndexes, MAX_EXAMINED, MAX_GROUPS_READ, summariesOf } from '../delivery-list.js';
import { type DeliverySummary, everyDeliveryOf } from '../delivery-view.js';
import { findRuns, newestRuns, type RunsOf } from '../earlier-runs.js';
import type { ExtendedRow, RowExtra, RowExtras } from '../row/row-extras.js';
import { type Located, RowReader } from '../row-reader.js';
import { listExpanded } from '../visibility/expanded-list.js';
import type { Execution, Page } from '../visibility/visibility.js';
import { accountsIn } from './accounts-in.js';

/** A delivery, and whose it is. */
export type AccountDelivery = DeliverySummary & { account_id: string };

type AccountLocated = Located & { account_id: string };

const OF_ALL: RunsOf<AccountLocated> = { accountOf: ({ account_id }) => account_id, rowsIn: everyDeliveryOf };

/**
 * A page of the deliveries of all accounts, each in its newest run: open ones first, then the latest closed. For the operator alone. What Temporal has
 * removed is in the list of its account.
 *
 * @param filter by what rows tell
 * @param reader reads what rows show besides, as far as it is asked for
 * @throws InvalidCursorError if the cursor did not come from this list
 */
export async function listEveryDelivery(
  client: Client,
  filter: RowFilter,
  limit: number,
  after: string | undefined,
  { reader, extras }: { reader: RowExtras; extras: readonly RowExtra[] },
): Promise<Page<ExtendedRow<AccountDelivery>>> {
  const clauses = clausesOf(undefined, filter);
  if (!clauses) return { data: [] };
  const rows = new RowReader(client);
  const expand = (execution: Execution) => {
    const accountOf = accountsIn(execution);
    const found = matching(everyDeliveryOf(execution), execution, filter);
    return atIndexes(found.map((row) => ({ execution, row, account_id: accountOf(row) })));
  };
  const { data, after: next } = await listExpanded<AccountLocated>(
    client,
    clauses,
    {
      expand,
      keep: async (items) => newestRuns(items, await findRuns(client, items, OF_ALL)),
      maxExamined: MAX_EXAMINED,
      isSpent: () => rows.groupsRead >= MAX_GROUPS_READ,
    },
    limit,
    after,
  );
  const summaries = await summariesOf(data, rows, reader.attemptsIn(extras));
  const listed = summaries.map((summary, index) => ({
    account_id: data[index]?.account_id ?? '',
    ...summary,
  }));
  return {
    data: await reader.complete(listed, extras, ({ account_id }) => account_id),
    ...(next !== undefined && { after: next }),
  };
}
