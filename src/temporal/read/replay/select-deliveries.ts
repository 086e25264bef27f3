import type { Client } from '@temporalio/client';
import { inParts, madeOnce } from '../../../domain/basics/bounded-memory.js';
import { DELIVERY_STATUSES } from '../../../domain/delivery/delivery.js';
import { STATUS_ATTRIBUTE } from '../../../domain/ledger/search-attributes.js';
import type { DeliveryFilter } from '../../../domain/list/delivery-filter.js';
import { accepts, type ReplayPlan, selectedStatuses } from '../../../domain/replay/replay.js';
import { clausesOf, hasResult, matchingRows, needsRecords } from '../delivery-filter.js';
import { startedAt } from '../delivery-view.js';
import { findRuns, newestRuns } from '../earlier-runs.js';
import { type Located, RowReader } from '../row-reader.js';
import { anyOf, type Clause, isBefore, isNoneOf } from '../visibility/query.js';
import type { Execution } from '../visibility/visibility.js';
import {
  cutPart,
  type Found,
  itemOf,
  type PartRequest,
  type Selection,
  type WindowPart,
} from './replay-page.js';

/** Workflow ids in one query. */
const IDS_AT_ONCE = 100;

/** Deliveries that match a replay's filter, each in the newest run that it had when the replay was asked for. */
export const selectDeliveries: Selection = {
  clauses(plan) {
    const { created_after: _, created_before: __, ...filter } = filterOf(plan);
    const clauses = clausesOf(plan.account_id, filter);
    return clauses && [...clauses, isOldClause(plan)];
  },

  async part(executions, request): Promise<WindowPart> {
    const { client, plan } = request;
    const rows = executions
      .filter((execution) => isOld(execution, plan))
      .flatMap((execution) =>
        matchingRows(execution, plan.account_id, filterOf(plan)).map((row) => ({ execution, row })),
      );
    const { part, after } = cutPart(newestRuns(rows, rows), ({ row }) => row.summary.id, request);
    const current = newestRuns(part, await runsOf(client, plan, part));
    const matching = await withResult(client, plan, current);
    return { found: await toFound(matching, request), ...(after !== undefined && { after }) };
  },
};

function filterOf(plan: ReplayPlan): DeliveryFilter {
  const { created_after, created_before, statuses, ...filter } = plan.filter;
  return {
    ...filter,
    statuses: selectedStatuses(plan, statuses),
    created_after: new Date(created_after),
    created_before: new Date(created_before),
  };
}

/**
 * What {@link isOld} says, for the server: what a replay starts must not fill the windows that it reads. What it starts
 * is no group.
 */
function isOldClause({ at }: ReplayPlan): Clause {
  return anyOf(
    [isBefore('StartTime', new Date(Date.parse(at) + 1))],
    [isNoneOf(STATUS_ATTRIBUTE.name, DELIVERY_STATUSES)],
  );
}

/** Whether an execution was there when the replay was asked for, also if it has carried on since. */
function isOld(execution: Execution, { at }: ReplayPlan): boolean {
  return startedAt(execution) <= at;
}

async function runsOf(client: Client, plan: ReplayPlan, items: readonly Located[]): Promise<Located[]> {
  const runs: Located[] = [];
  for (const some of inParts(items, IDS_AT_ONCE))
    runs.push(...(await findRuns(client, some, plan.account_id)));
  return runs.filter(({ execution }) => isOld(execution, plan));
}

/** Those whose records are as the filter says, and accept what the replay does. */
async function withResult(client: Client, plan: ReplayPlan, items: readonly Located[]): Promise<Located[]> {
  const filter = filterOf(plan);
  const rows = new RowReader(client);
  const wanted = await Promise.all(
    items.map(
      async (item) =>
        accepts(plan.action, item.row.state) &&
        (!needsRecords(filter) || (await hasResult(item, filter, rows))),
    ),
  );
  return items.filter((_, index) => wanted[index]);
}

async function toFound(items: readonly Located[], { plan, registrations }: PartRequest): Promise<Found[]> {
  const isThere = new Map<string, Promise<boolean>>();
  const exists = (id: string) =>
    madeOnce(isThere, id, async () => (await registrations.now(plan.account_id, id)) !== undefined);
  return Promise.all(
    items.map(async (located) => {
      const isGone = plan.action === 'resend' && !(await exists(located.row.summary.endpoint_id));
      return { item: itemOf(located), ...(isGone && { is_gone: true }) };
    }),
  );
}
