import { z } from 'zod';
import { checkEventKinds } from '../../../domain/endpoint/endpoint.js';
import { filterSchema } from '../../../domain/endpoint/filter-schema.js';
import { LISTENER_SCHEDULE } from '../../../domain/listener/listener.js';
import type { ApiDependencies } from '../../http/context.js';
import { type Operation, operation } from '../../http/operation.js';
import { originOf } from '../../http/origin.js';
import { invalidRequest } from '../../http/validation.js';
import { endpointBody } from '../endpoints/endpoint-body.js';
import { endpointWithSecretSchema, renderEndpoint, renderKeys } from '../endpoints/endpoint-view.js';
import { createEndpoint } from '../endpoints/write-endpoint.js';
import { kindNames } from '../event-kinds/find-kind.js';

const body = z.strictObject({
  event_kinds: endpointBody.shape.event_kinds,
  filter: filterSchema.optional().describe('A condition on the payload: docs/endpoints.md'),
  description: endpointBody.shape.description,
  retry_schedule: endpointBody.shape.retry_schedule.default([...LISTENER_SCHEDULE]),
});

/** A kind of temporary endpoint. */
interface Kind {
  path: string;
  operationId: string;
  summary: string;
  /** After which it is deleted, for people. */
  lifetime: string;
  isInbox?: true;
  /** When a program counts as connected to it last; absent: now. */
  seenAt?: () => Date;
}

/** The operation that makes a temporary endpoint: a listener, or a test inbox. */
export function createTemporary(
  dependencies: ApiDependencies,
  { path, operationId, summary, lifetime, isInbox, seenAt }: Kind,
): Operation {
  const { database } = dependencies;
  return operation('post', path, operationId, {
    summary,
    scope: 'endpoints:write',
    body,
    example: { event_kinds: ['purchase'] },
    responses: {
      201: {
        description: `The endpoint, with its signing secret. It needs no verification, and is deleted after ${lifetime}`,
        schema: endpointWithSecretSchema,
      },
    },
    location: '/endpoints/:id',
    isSecret: true,
    problems: ['endpoint_limit_reached', 'filter_limit_reached'],
    async handle({ account_id, body: listener }, ctx) {
      const errors = checkEventKinds(listener.event_kinds, await kindNames(database, account_id));
      if (errors.length > 0) throw invalidRequest(errors);
      const input = { listener, ...(isInbox && { isInbox }) };
      const endpoint = await createEndpoint(dependencies, account_id, input, originOf(ctx));
      await database.listeners.create(account_id, endpoint.id, seenAt?.());
      return { ...renderEndpoint(endpoint), ...renderKeys(database.endpoints.secretsOf(endpoint)) };
    },
  });
}
