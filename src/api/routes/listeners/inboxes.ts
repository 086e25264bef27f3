import { z } from 'zod';
import { notFound } from '../../../domain/http/problem.js';
import { INBOX_MS, MAX_RECEIVED, type ReceivedRequest } from '../../../domain/listener/inbox.js';
import { LISTENER_LIMIT_MS } from '../../../domain/listener/listener.js';
import { bodyAgain } from '../../../domain/sending/sent-form.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { ApiDependencies } from '../../http/context.js';
import type { Operation } from '../../http/operation.js';
import { listOperation } from '../../http/paging.js';
import { timeSchema } from '../../http/schemas.js';
import { findEndpoint } from '../endpoints/endpoints.js';
import { createTemporary } from './temporary-endpoint.js';

const receivedSchema = z
  .object({
    id: z.string(),
    event_id: z.string(),
    received_at: timeSchema,
    headers: z.record(z.string(), z.string()).describe('As they came'),
    body: z.string().optional().describe('As it came; absent once the payload of the event was erased'),
    body_bytes: z.int(),
    verified: z.boolean().describe('Whether the signature is right for the secret of the inbox'),
    signature_error: z.string().optional().describe('Why it is not, as a Standard Webhooks library says it'),
  })
  .meta({ id: 'ReceivedRequest' });

/** Test inboxes: temporary endpoints of Hookline's own, which show what they received. */
export function inboxOperations(dependencies: ApiDependencies): Operation[] {
  const { database } = dependencies;
  const withBody = async (
    account_id: string,
    { signature_error, endpoint_id: _, form, ...request }: ReceivedRequest,
  ) => {
    const event = { account_id, event_id: request.event_id };
    const payload = await database.payloads.of(event);
    return {
      ...request,
      body: form && bodyAgain(form, event, payload),
      verified: signature_error === undefined,
      ...(signature_error !== undefined && { signature_error }),
    };
  };

  return [
    createTemporary(dependencies, {
      path: '/inboxes',
      operationId: 'createInbox',
      summary: 'Make a test inbox: an endpoint of Hookline’s own that shows what it received, for an hour',
      lifetime: 'an hour',
      isInbox: true,
      // A listener that nobody is connected to is deleted after a while, which begins when the inbox ends.
      seenAt: () => new Date(sharedNow() + INBOX_MS - LISTENER_LIMIT_MS),
    }),

    listOperation('/inboxes/:id/requests', 'listReceivedRequests', {
      summary: `List what a test inbox received, the latest first; of an account the latest ${MAX_RECEIVED} are kept`,
      scope: 'deliveries:read',
      page: ['A page of requests', receivedSchema],
      async read({ account_id, params: { id }, query: { limit, after } }, ctx) {
        const endpoint = await findEndpoint(dependencies, ctx, id);
        if (!endpoint.inbox) throw notFound('inbox', id);
        const found = await database.inboxes.list(account_id, id, limit + 1, after);
        return Promise.all(found.map((request) => withBody(account_id, request)));
      },
    }),
  ];
}
