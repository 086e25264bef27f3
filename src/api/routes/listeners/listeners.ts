import { z } from 'zod';
import { checkEventKinds } from '../../../domain/endpoint/endpoint.js';
import { filterSchema } from '../../../domain/endpoint/filter-schema.js';
import { notFound } from '../../../domain/http/problem.js';
import { LISTENER_SCHEDULE } from '../../../domain/listener/listener.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { ApiDependencies } from '../../http/context.js';
import { type Operation, operation, pathTo } from '../../http/operation.js';
import { originOf } from '../../http/origin.js';
import { timeSchema } from '../../http/schemas.js';
import { invalidRequest } from '../../http/validation.js';
import { STREAM_SCOPE } from '../../listeners/ticket-holder.js';
import { newTicket } from '../../listeners/tickets.js';
import { endpointBody } from '../endpoints/endpoint-body.js';
import { endpointWithSecretSchema, renderEndpoint, renderKeys } from '../endpoints/endpoint-view.js';
import { findEndpoint } from '../endpoints/endpoints.js';
import { createEndpoint } from '../endpoints/write-endpoint.js';
import { kindNames } from '../event-kinds/find-kind.js';

/** Body of a request for a listener or a test inbox. */
export const listenerBody = z.strictObject({
  event_kinds: endpointBody.shape.event_kinds,
  filter: filterSchema.optional().describe('A condition on the payload: docs/endpoints.md'),
  description: endpointBody.shape.description,
  retry_schedule: endpointBody.shape.retry_schedule.default([...LISTENER_SCHEDULE]),
});

const ticketSchema = z
  .object({
    ticket: z.string().describe('Sent as `Authorization: Bearer` with the WebSocket request, once'),
    path: z.string().describe('Of the stream, below the address of the API'),
    expires_at: timeSchema.describe('Time until which the stream can be opened; it may stay open for longer'),
  })
  .meta({ id: 'ListenerTicket' });

/** Listeners: temporary endpoints whose deliveries go to a connected program instead of a URL. */
export function listenerOperations(dependencies: ApiDependencies): Operation[] {
  const { database, box } = dependencies;

  return [
    operation('post', '/listeners', 'createListener', {
      summary: 'Create a temporary endpoint whose deliveries go to a connected program',
      scope: 'endpoints:write',
      body: listenerBody,
      example: { event_kinds: ['purchase'] },
      responses: {
        201: {
          description:
            'The endpoint, with its signing secret. It needs no verification, and is deleted after ten minutes without a connection',
          schema: endpointWithSecretSchema,
        },
      },
      location: '/endpoints/:id',
      isSecret: true,
      problems: ['endpoint_limit_reached', 'filter_limit_reached'],
      async handle({ account_id, body }, ctx) {
        const errors = checkEventKinds(body.event_kinds, await kindNames(database, account_id));
        if (errors.length > 0) throw invalidRequest(errors);
        const origin = originOf(ctx);
        const endpoint = await createEndpoint(dependencies, account_id, { listener: body }, origin);
        await database.listeners.create(account_id, endpoint.id);
        return { ...renderEndpoint(endpoint), ...renderKeys(database.endpoints.secretsOf(endpoint)) };
      },
    }),

    operation('post', '/listeners/:id/tickets', 'createListenerTicket', {
      summary:
        'Get a ticket for the stream of a listener: a WebSocket, one at a time, which ends with the token of this request',
      scope: STREAM_SCOPE,
      responses: { 201: { description: 'The ticket', schema: ticketSchema } },
      isSecret: true,
      async handle({ params: { id } }, ctx) {
        const endpoint = await findEndpoint(dependencies, ctx, id);
        if (!endpoint.listener || endpoint.inbox) throw notFound('listener', id);
        const holder = { account_id: endpoint.account_id, endpoint_id: id, credential: ctx.state.caller };
        const stream = '/listeners/:id/stream';
        ctx.set('location', pathTo(ctx, stream));
        return { ...newTicket(box, holder, sharedNow()), path: pathTo(ctx, stream) };
      },
    }),
  ];
}
