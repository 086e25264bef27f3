import { z } from 'zod';
import { MAX_PAYLOAD_BYTES } from '../../../../packages/payload-contract/src/index.js';
import type { Owner } from '../../../domain/access/owner.js';
import { createdAt } from '../../../domain/basics/id-time.js';
import { newId } from '../../../domain/basics/ids.js';
import { toTarget } from '../../../domain/delivery/recipients.js';
import { TEST_KIND } from '../../../domain/event/event-kinds.js';
import { Problem } from '../../../domain/http/problem.js';
import { hostOf } from '../../../domain/ledger/summaries.js';
import type { StoredEndpoint } from '../../../models/endpoint/endpoint-document.js';
import type { ApiDependencies } from '../../http/context.js';
import { kindParameter } from '../deliveries/filters.js';
import { findKind } from '../event-kinds/find-kind.js';
import { renderAcceptance } from '../events/event-view.js';

/** Request body of a test. */
export const testBody = z.strictObject({
  event_kind: kindParameter.describe(
    'A kind whose example is sent: the first of `examples` in its schema. It is an event of that kind, to this endpoint alone. Absent: a test event of the kind endpoint.test',
  ),
});

/**
 * Sends a test event to an endpoint, and returns what is answered for it.
 *
 * @param owner who the example is checked for
 * @param kindName a kind whose example is sent; absent: an event of the kind `endpoint.test`
 * @throws Problem 409 if the endpoint is pending, or the kind has no example; 400 if the example does not match its
 * schema; 404 if there is no such kind
 */
export async function sendTestEvent(
  dependencies: ApiDependencies,
  endpoint: StoredEndpoint,
  owner: Owner,
  kindName: string | undefined,
) {
  const { account_id, id: endpoint_id, status, target_url } = endpoint;
  if (status === 'pending')
    throw new Problem('endpoint_state_conflict', 'The endpoint gets no events until it is verified.');
  const example =
    kindName === undefined ? undefined : await exampleOf(dependencies, owner, account_id, kindName);
  const event_id = newId('event');
  const accepted_at = createdAt(event_id);
  const payload =
    example ?? JSON.stringify({ endpoint_id, message: 'This is a test.', created_at: accepted_at });
  const kind = kindName ?? TEST_KIND;
  // It has no number and no business keys: nobody has posted it, and a search for an order does not find an example.
  const event = { account_id, event_id, event_kind: kind, payload, accepted_at, is_test: true } as const;
  const hints = { hostOf: () => hostOf(target_url) };
  await dependencies.starter.accept({ event, targets: [toTarget(endpoint)], hints });
  return renderAcceptance(kind, { event_id, targets: [{ endpoint_id }] });
}

/**
 * The example that the schema of a kind has, as a payload. Nothing else is sent: what an endpoint gets of a kind is
 * never what its subscriber has made up.
 */
async function exampleOf(
  { database, payloads }: ApiDependencies,
  owner: Owner,
  accountId: string,
  name: string,
): Promise<string> {
  const kind = await findKind(database, accountId, name, undefined);
  const { examples } = kind.schema;
  const text = Array.isArray(examples) && examples.length > 0 ? JSON.stringify(examples[0]) : undefined;
  if (text === undefined || Buffer.byteLength(text) > MAX_PAYLOAD_BYTES)
    throw new Problem(
      'event_kind_conflict',
      `The schema of ${name} has no example that could be sent: give it \`examples\`.`,
    );
  return (await payloads.read(owner, kind, Buffer.from(text))).text;
}
