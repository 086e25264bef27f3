import { deliveryId } from '../../../domain/basics/delivery-id.js';
import { createdAt } from '../../../domain/basics/id-time.js';
import { newId } from '../../../domain/basics/ids.js';
import { Problem } from '../../../domain/http/problem.js';
import { hostOf } from '../../../domain/ledger/summaries.js';
import type { StoredEndpoint } from '../../../models/endpoint/endpoint-document.js';
import type { ApiDependencies } from '../../http/context.js';

/** Kind of the event that `POST /endpoints/{id}/test` sends. */
const TEST_KIND = 'endpoint.test';

/** Sends a test event to an endpoint, and returns what is answered for it. @throws Problem 409 if the endpoint is pending */
export async function sendTestEvent(
  { starter }: Pick<ApiDependencies, 'starter'>,
  {
    account_id,
    id: endpoint_id,
    status,
    target_url,
  }: Pick<StoredEndpoint, 'account_id' | 'id' | 'status' | 'target_url'>,
) {
  if (status === 'pending')
    throw new Problem('endpoint_state_conflict', 'The endpoint gets no events until it is verified.');
  const event_id = newId('event');
  const accepted_at = createdAt(event_id);
  const payload = JSON.stringify({ endpoint_id, message: 'This is a test.', created_at: accepted_at });
  const event = { account_id, event_id, event_kind: TEST_KIND, payload, accepted_at };
  await starter.accept(event, [{ endpoint_id }], { hostOf: () => hostOf(target_url) });
  return {
    id: event_id,
    kind: TEST_KIND,
    created_at: accepted_at,
    delivery_count: 1,
    deliveries: [{ id: deliveryId({ event_id, endpoint_id }), endpoint_id }],
  };
}
