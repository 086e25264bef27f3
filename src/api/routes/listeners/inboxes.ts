import { z } from 'zod';
import { checkEventKinds } from '../../../domain/endpoint/endpoint.js';
import { notFound } from '../../../domain/http/problem.js';
import { INBOX_MS, MAX_RECEIVED, type ReceivedRequest } from '../../../domain/listener/inbox.js';
import { LISTENER_LIMIT_MS } from '../../../domain/listener/listener.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { ApiDependencies } from '../../http/context.js';
import { type Operation, operation } from '../../http/operation.js';
import { originOf } from '../../http/origin.js';
import { listOperation } from '../../http/paging.js';
import { timeSchema } from '../../http/schemas.js';
import { invalidRequest } from '../../http/validation.js';
import { endpointWithSecretSchema, renderEndpoint, renderKeys } from '../endpoints/endpoint-view.js';
import { findEndpoint } from '../endpoints/endpoints.js';
import { createEndpoint } from '../endpoints/write-endpoint.js';
import { kindNames } from '../event-kinds/find-kind.js';
import { listenerBody } from './listeners.js';

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
    accountId: string,
    { signature_error, endpoint_id: _, ...request }: ReceivedRequest,
  ) => ({
    ...request,
    body: await database.payloads.of({ account_id: accountId, event_id: request.event_id }),
    verified: signature_error === undefined,
    ...(signature_error !== undefined && { signature_error }),
  });

  return [
    operation('post', '/inboxes', 'createInbox', {
      summary: 'Make a test inbox: an endpoint of Hookline’s own that shows what it received, for an hour',
      scope: 'endpoints:write',
      body: listenerBody,
      example: { event_kinds: ['purchase'] },
      responses: {
        201: {
          description:
            'The endpoint, with its signing secret. It needs no verification, and is deleted after an hour',
          schema: endpointWithSecretSchema,
        },
      },
      location: '/endpoints/:id',
      isSecret: true,
      problems: ['endpoint_limit_reached', 'filter_limit_reached'],
      async handle({ account_id, body }, ctx) {
        const errors = checkEventKinds(body.event_kinds, await kindNames(database, account_id));
        if (errors.length > 0) throw invalidRequest(errors);
        const input = { listener: body, isInbox: true };
        const endpoint = await createEndpoint(dependencies, account_id, input, originOf(ctx));
        // A listener that nobody is connected to is deleted after a while, which begins when the inbox ends.
        const endsAt = new Date(sharedNow() + INBOX_MS - LISTENER_LIMIT_MS);
        await database.listeners.create(account_id, endpoint.id, endsAt);
        return { ...renderEndpoint(endpoint), ...renderKeys(database.endpoints.secretsOf(endpoint)) };
      },
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
