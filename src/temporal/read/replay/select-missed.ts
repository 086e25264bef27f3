import pLimit from 'p-limit';
import { madeOnce } from '../../../domain/basics/bounded-memory.js';
import { createdAt } from '../../../domain/basics/id-time.js';
import { isClosed } from '../../../domain/delivery/delivery.js';
import { refusalOf, type Subscription } from '../../../domain/delivery/recipients.js';
import { TEST_KIND } from '../../../domain/event/event-kinds.js';
import { valuesOf } from '../../../domain/event/values/values-of.js';
import { openEvent } from '../../../domain/ledger/sealed-event.js';
import { KIND_ATTRIBUTE } from '../../../domain/ledger/search-attributes.js';
import { DELIVERY_TYPE } from '../../../domain/ledger/workflow-ids.js';
import { type Registration, type ReplayPlan, selectedStatuses } from '../../../domain/replay/replay.js';
import { eventClauses, eventTest } from '../delivery-filter.js';
import { deliveriesOf, headsOf } from '../delivery-view.js';
import { newestRuns } from '../earlier-runs.js';
import { readInput, startedIn } from '../history.js';
import type { Located } from '../row-reader.js';
import { where } from '../visibility/clauses.js';
import { type Execution, everyExecution } from '../visibility/visibility.js';
import {
  cutPart,
  type Found,
  itemOf,
  type PartRequest,
  type Registrations,
  type Selection,
} from './replay-page.js';

/** Events that are compared with their deliveries at once. */
const EVENTS_AT_ONCE = 100;

/** An event, and the execution that stands for it. */
interface Head {
  id: string;
  kind: string;
  execution: Execution;
}

/**
 * Events that an endpoint did not get: their deliveries to it failed, or it never had one although its registration
 * selects the event.
 */
export const selectMissed: Selection = {
  clauses({ account_id, filter }) {
    const { event_id, event_kind, key_token } = filter;
    return [
      ...where(account_id, { isHead: true, isCurrent: true }),
      ...eventClauses({ event_id, event_kind, key_token }),
    ];
  },

  async part(executions, request) {
    const heads = new Map<string, Head>();
    for (const execution of executions)
      for (const head of headsIn(execution, request.plan)) heads.set(head.id, head);
    const limit = Math.min(request.limit, EVENTS_AT_ONCE);
    const cut = cutPart([...heads.values()], ({ id }) => id, { after: request.after, limit });
    const deliveries = await deliveriesTo(cut.part, request);
    const inputs = new Map<string, Promise<unknown>>();
    const reads = pLimit(10);
    const found = await Promise.all(
      cut.part.map((head) => {
        const delivery = deliveries.get(head.id);
        return delivery ? againIfFailed(delivery, request.plan) : reads(() => asNew(head, request, inputs));
      }),
    );
    return { found: found.flat(), ...(cut.after !== undefined && { after: cut.after }) };
  },
};

function headsIn(execution: Execution, { account_id, at, filter }: ReplayPlan): Head[] {
  const kind = execution.typedSearchAttributes.get(KIND_ATTRIBUTE) ?? '';
  if (kind === TEST_KIND) return [];
  const isWanted = eventTest(
    {
      event_id: filter.event_id,
      key_token: filter.key_token,
      created_after: new Date(filter.created_after),
      created_before: new Date(filter.created_before),
    },
    execution,
  );
  return headsOf(execution, account_id)
    .filter((id) => createdAt(id) <= at && isWanted({ event_id: id, event_kind: kind }))
    .map((id) => ({ id, kind, execution }));
}

/** The deliveries of some events to the replay's endpoint, each in its newest run, by event. */
async function deliveriesTo(
  heads: readonly Head[],
  { client, plan: { account_id, filter } }: PartRequest,
): Promise<Map<string, Located>> {
  if (heads.length === 0) return new Map();
  const endpointId = filter.endpoint_id ?? '';
  const clauses = where(account_id, {
    ...{ type: DELIVERY_TYPE, isCurrent: true, endpoint: endpointId },
    event: heads.map(({ id }) => id),
  });
  const runs: Located[] = [];
  for await (const execution of everyExecution(client, clauses))
    for (const row of deliveriesOf(execution, account_id))
      if (row.summary.endpoint_id === endpointId) runs.push({ execution, row });
  return new Map(newestRuns(runs, runs).map((one) => [one.row.summary.event_id, one]));
}

function againIfFailed(delivery: Located, plan: ReplayPlan): Found[] {
  const { status } = delivery.row.summary;
  return isClosed(status) && selectedStatuses(plan).includes(status) ? [{ item: itemOf(delivery) }] : [];
}

/** An event that the endpoint never had, if one of the registrations selects it. */
async function asNew(
  { id, kind, execution }: Head,
  { client, sealer, plan, registrations, compared }: PartRequest,
  inputs: Map<string, Promise<unknown>>,
): Promise<Found[]> {
  const { account_id, filter } = plan;
  const { workflowId, runId } = execution;
  const input = await madeOnce(inputs, runId, () => readInput(client, execution));
  const event = startedIn(input, id)?.event;
  // What was a test of another endpoint was not missed here.
  if (event?.is_test) return [];
  const text = event && (await openEvent(sealer, event));
  // What was erased cannot be sent.
  if (text === undefined) return [];
  const payload = valuesOf(text);
  const endpoint_id = filter.endpoint_id ?? '';
  const selected_by = await Promise.all(
    compared.map(async (registration) => {
      const subscription = await subscriptionBy(registration, registrations, { account_id, endpoint_id, id });
      return subscription !== undefined && refusalOf(subscription, kind, payload) === undefined;
    }),
  );
  if (!selected_by.includes(true)) return [];
  const item = { event_id: id, endpoint_id, run_id: runId, workflow_id: workflowId, is_new: true } as const;
  return [{ item, selected_by }];
}

async function subscriptionBy(
  registration: Registration,
  registrations: Registrations,
  { account_id, endpoint_id, id }: { account_id: string; endpoint_id: string; id: string },
): Promise<Subscription | undefined> {
  if (registration === 'now') return (await registrations.now(account_id, endpoint_id))?.subscription;
  const time = registration === 'then' ? createdAt(id) : registration;
  return registrations.at(account_id, endpoint_id, new Date(time));
}
