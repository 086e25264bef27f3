import { valuesOf } from '../../../../packages/payload-contract/src/index.js';
import { deliveryId } from '../../../domain/basics/delivery-id.js';
import { createdAt } from '../../../domain/basics/id-time.js';
import { isClosed } from '../../../domain/delivery/delivery.js';
import { refusalOf, type Subscription } from '../../../domain/delivery/recipients.js';
import { TEST_KIND } from '../../../domain/event/event-kinds.js';
import type { EventRow, ListedDelivery } from '../../../domain/records/stored.js';
import { type Registration, type SelectingPlan, selectedStatuses } from '../../../domain/replay/replay.js';
import type { PartRequest, RegistrationReader, ReplayPart, ReplayTarget } from './replay-page.js';
import { itemOf } from './select-deliveries.js';

/** Events that are compared with their deliveries at once: their payloads are read. */
const EVENTS_AT_ONCE = 100;

/**
 * Events that an endpoint did not get: their deliveries to it failed, or it never had one although its registration
 * selects the event.
 */
export async function selectMissed(request: PartRequest): Promise<ReplayPart> {
  const { plan, records, from, until } = request;
  const limit = Math.min(request.limit, EVENTS_AT_ONCE);
  const { event_id, event_kind, key_token, endpoint_id = '' } = plan.filter;
  const filter = { event_id, event_kind, key_token };
  const range = { from: from.event_id, until };
  const read = await records.search.events(plan.account_id, filter, range, limit);
  const events = read.filter(
    ({ id, event_kind: kind }) =>
      kind !== TEST_KIND && createdAt(id) <= plan.at && createdAt(id) > plan.filter.created_after,
  );
  const deliveries = await records.search.some(
    plan.account_id,
    events.map(({ id }) => deliveryId({ event_id: id, endpoint_id })),
  );
  const found = await Promise.all(
    events.map((event) => {
      const delivery = deliveries.get(deliveryId({ event_id: event.id, endpoint_id }));
      if (delivery) return againIfFailed(delivery, plan);
      // Its deliveries are about to begin.
      return event.endpoint_ids.includes(endpoint_id) ? [] : asNew(event, request);
    }),
  );
  const last = read.at(-1);
  return { found: found.flat(), ...(read.length === limit && last && { next: { event_id: `${last.id}~` } }) };
}

function againIfFailed(delivery: ListedDelivery, plan: SelectingPlan): ReplayTarget[] {
  const { status } = delivery;
  const isWanted = isClosed(status) && selectedStatuses(plan).includes(status);
  return isWanted ? [{ item: itemOf(plan.account_id, delivery) }] : [];
}

/** An event that the endpoint never had, if one of the registrations selects it. */
async function asNew(
  { id, event_kind, payload: text, is_test, named_endpoints }: EventRow,
  { plan, registrations, compared }: PartRequest,
): Promise<ReplayTarget[]> {
  // Test events of other endpoints were not missed here, and erased events cannot be sent.
  if (is_test || text === undefined) return [];
  const { account_id, filter } = plan;
  const endpoint_id = filter.endpoint_id ?? '';
  if (named_endpoints?.includes(endpoint_id) === false) return [];
  const payload = valuesOf(text);
  const selected_by = await Promise.all(
    compared.map(async (registration) => {
      const subscription = await subscriptionBy(registration, registrations, { account_id, endpoint_id, id });
      return subscription !== undefined && refusalOf(subscription, event_kind, payload) === undefined;
    }),
  );
  if (!selected_by.includes(true)) return [];
  return [{ item: { event_id: id, endpoint_id, run_id: '', is_new: true }, selected_by }];
}

async function subscriptionBy(
  registration: Registration,
  registrations: RegistrationReader,
  { account_id, endpoint_id, id }: { account_id: string; endpoint_id: string; id: string },
): Promise<Subscription | undefined> {
  if (registration === 'now') return (await registrations.now(account_id, endpoint_id))?.subscription;
  const time = registration === 'then' ? createdAt(id) : registration;
  return registrations.at(account_id, endpoint_id, new Date(time));
}
