import { madeOnce } from '../../../domain/basics/bounded-memory.js';
import { deliveryWorkflowId } from '../../../domain/ledger/workflow-ids.js';
import type { DeliveryFilter } from '../../../domain/list/delivery-filter.js';
import type { ListedDelivery } from '../../../domain/records/stored.js';
import { factsIn, summaryIn } from '../../../domain/records/stored-views.js';
import {
  accepts,
  type ReplayItem,
  type SelectingPlan,
  selectedStatuses,
} from '../../../domain/replay/replay.js';
import type { PartRequest, ReplayPart, ReplayTarget } from './replay-page.js';

/** Deliveries that match a replay's filter, in the run that they had when the replay was asked for. */
export async function selectDeliveries(request: PartRequest): Promise<ReplayPart> {
  const { plan, records, from, until, limit } = request;
  const filter = filterOf(plan);
  if (filter.statuses?.length === 0) return { found: [] };
  const { search } = records;
  const { account_id } = plan;
  // The rest of an event whose deliveries did not fit into the part before.
  if (from.after !== undefined) {
    const rows = await search.ofEvent(account_id, filter, from.event_id, from.after, limit);
    const last = rows.at(-1);
    const next =
      rows.length === limit && last ? { ...from, after: last.id } : { event_id: `${from.event_id}~` };
    return { found: await toFound(rows, request), next };
  }
  const rows = await search.ofEvents(account_id, filter, { from: from.event_id, until }, limit);
  if (rows.length < limit) return { found: await toFound(rows, request) };
  // The deliveries of the last event are read by their ids.
  const last = rows.at(-1)?.event_id ?? '';
  const whole = rows.filter(({ event_id }) => event_id !== last);
  return { found: await toFound(whole, request), next: { event_id: last, after: '' } };
}

function filterOf(plan: SelectingPlan): DeliveryFilter {
  const { created_after, created_before, statuses, ...filter } = plan.filter;
  return {
    ...filter,
    statuses: selectedStatuses(plan, statuses),
    created_after: new Date(created_after),
    created_before: new Date(created_before),
  };
}

async function toFound(
  rows: readonly ListedDelivery[],
  { plan, registrations }: PartRequest,
): Promise<ReplayTarget[]> {
  const isThere = new Map<string, Promise<boolean>>();
  const exists = (id: string) =>
    madeOnce(isThere, id, async () => (await registrations.now(plan.account_id, id)) !== undefined);
  const found = await Promise.all(
    rows.map(async (row): Promise<ReplayTarget[]> => {
      // Runs that began after the plan were started by a replay, or by somebody else.
      if (summaryIn(row).started_at > plan.at || !accepts(plan.action, factsIn(row))) return [];
      const isGone = plan.action === 'resend' && !(await exists(row.endpoint_id));
      return [{ item: itemOf(plan.account_id, row), ...(isGone && { is_gone: true }) }];
    }),
  );
  return found.flat();
}

/** A delivery as what a replay acts on. */
export function itemOf(accountId: string, row: ListedDelivery): ReplayItem {
  const { event_id, endpoint_id, run_id, workflow_id } = summaryIn(row);
  const isOwn = workflow_id === deliveryWorkflowId(accountId, { event_id, endpoint_id });
  return { event_id, endpoint_id, run_id, ...(!isOwn && { workflow_id }) };
}
