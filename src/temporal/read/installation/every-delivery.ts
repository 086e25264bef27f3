import type { Client } from '@temporalio/client';
import { SHOWN_STATUSES, type ShownStatus } from '../../../domain/delivery/delivery.js';
import { KIND_ATTRIBUTE } from '../../../domain/ledger/search-attributes.js';
import { DELIVERY_TYPE } from '../../../domain/ledger/workflow-ids.js';
import { MAX_EXAMINED, MAX_GROUPS_READ } from '../delivery-list.js';
import {
  type DeliverySummary,
  everyDeliveryOf,
  isCurrent,
  isWithin,
  type Period,
  periodClauses,
} from '../delivery-view.js';
import { findRuns, newestRuns, type RunsOf } from '../earlier-runs.js';
import { type Located, RowReader } from '../row-reader.js';
import { listExpanded } from '../visibility/expanded-list.js';
import { equals } from '../visibility/query.js';
import { hasStatus } from '../visibility/status-clauses.js';
import type { Execution, Page } from '../visibility/visibility.js';
import { accountsIn } from './accounts-in.js';

/** A delivery, and whose it is. */
export type AccountDelivery = DeliverySummary & { account_id: string };

/** What the deliveries of all accounts are narrowed down by. */
export interface EveryDeliveryFilter extends Period {
  statuses?: readonly ShownStatus[] | undefined;
  event_kind?: string | undefined;
}

type AccountLocated = Located & { account_id: string };

const OF_ALL: RunsOf<AccountLocated> = { accountOf: ({ account_id }) => account_id, rowsIn: everyDeliveryOf };

/**
 * A page of the deliveries of all accounts, each in its newest run: open ones first, then the latest closed. For the operator alone. What Temporal has
 * removed is in the list of its account.
 *
 * @throws InvalidCursorError if the cursor did not come from this list
 */
export async function listEveryDelivery(
  client: Client,
  filter: EveryDeliveryFilter,
  limit: number,
  after: string | undefined,
): Promise<Page<AccountDelivery>> {
  const { statuses = SHOWN_STATUSES, event_kind } = filter;
  const clauses = [
    equals('WorkflowType', DELIVERY_TYPE),
    isCurrent,
    ...(event_kind ? [equals(KIND_ATTRIBUTE.name, event_kind)] : []),
    ...(statuses.length < SHOWN_STATUSES.length ? [hasStatus(statuses)] : []),
    ...periodClauses(filter),
  ];
  const rows = new RowReader(client);
  const expand = (execution: Execution) => {
    const accountOf = accountsIn(execution);
    const items: (AccountLocated | undefined)[] = [];
    for (const row of everyDeliveryOf(execution)) {
      if (!statuses.includes(row.summary.status) || !isWithin(row.summary.event_id, filter)) continue;
      // Each at its index in the group, where a cursor finds it again.
      while (items.length < row.index) items.push(undefined);
      items.push({ execution, row, account_id: accountOf(row) });
    }
    return items;
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
  const summaries = await rows.summaries(data);
  return {
    data: summaries.map((summary, index) => ({ account_id: data[index]?.account_id ?? '', ...summary })),
    ...(next !== undefined && { after: next }),
  };
}
