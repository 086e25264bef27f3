import { z } from 'zod';
import { notFound } from '../../../domain/http/problem.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { ApiDependencies } from '../../http/context.js';
import { type Operation, operation, pathTo } from '../../http/operation.js';
import { timeSchema } from '../../http/schemas.js';
import { STREAM_SCOPE } from '../../listeners/ticket-holder.js';
import { newTicket } from '../../listeners/tickets.js';
import { findEndpoint } from '../endpoints/endpoints.js';
import { createTemporary } from './temporary-endpoint.js';

const ticketSchema = z
  .object({
    ticket: z.string().describe('Sent as `Authorization: Bearer` with the WebSocket request, once'),
    path: z.string().describe('Path of the stream, below the address of the API'),
    expires_at: timeSchema.describe('Time until which the stream can be opened; it may stay open for longer'),
  })
  .meta({ id: 'ListenerTicket' });

/** Listeners: temporary endpoints whose deliveries go to a connected program instead of a URL. */
export function listenerOperations(dependencies: ApiDependencies): Operation[] {
  const { box } = dependencies;

  return [
    createTemporary(dependencies, {
      path: '/listeners',
      operationId: 'createListener',
      summary: 'Create a temporary endpoint whose deliveries go to a connected program',
      lifetime: 'ten minutes without a connection',
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
