import { z } from 'zod';
import { idPattern, isId } from '../../../domain/basics/ids.js';
import {
  CHANGE_ACTIONS,
  CHANGE_OUTCOMES,
  RESOURCE_KINDS,
  resourceName,
} from '../../../domain/change/change.js';
import { notFound } from '../../../domain/http/problem.js';
import type { ApiDependencies } from '../../http/context.js';
import type { Operation } from '../../http/operation.js';
import { cutPage, listOperation } from '../../http/paging.js';
import { timeParameter } from '../deliveries/filters.js';
import { changeSchema, withNames } from './change-view.js';

const RESOURCE = new RegExp(`^(${RESOURCE_KINDS.join('|')}):[\\w.]{1,128}$`);
/** Also a subject of a person at the desk, as an identity provider writes it. */
const ACTOR = /^[\x20-\x7e]{1,255}$/;

const after = z
  .string()
  .regex(idPattern('change'), 'must be a cursor that an earlier page of this list gave')
  .optional();

/** Filters of lists of changes. */
export const changeParameters = {
  after,
  resource: z
    .string()
    .regex(RESOURCE, 'must be a kind and an id, such as endpoint:ep_01JD8F…')
    .optional()
    .describe(`Kind and id, such as endpoint:ep_…; kinds: ${RESOURCE_KINDS.join(', ')}`),
  actor: z
    .string()
    .regex(ACTOR, 'must be the id of an actor, such as key_01JD8F…')
    .optional()
    .describe(
      'Author: an API key, an OAuth client, a profile for whose person a client acted, the subject of a person at the desk, operator, subscriber, erasure, incident, rotation or verification',
    ),
  action: z.enum(CHANGE_ACTIONS).optional().describe('Action'),
  outcome: z.enum(CHANGE_OUTCOMES).optional().describe('Whether it was done'),
  created_after: timeParameter,
  created_before: timeParameter,
};

/** Lists of changes with their authors. */
export function changeOperations({ database }: ApiDependencies): Operation[] {
  const { changes, endpoints } = database;
  return [
    listOperation('/changes', 'listChanges', {
      summary: 'List the changes in the account with their authors, newest first',
      scope: 'changes:read',
      parameters: changeParameters,
      problems: ['record_altered'],
      page: ['A page of changes', changeSchema],
      async read({ account_id, query: { limit, after, ...filter } }) {
        const rows = await changes.list(account_id, filter, limit + 1, after);
        return withNames(database, cutPage(rows, limit), account_id);
      },
    }),

    listOperation('/endpoints/:id/versions', 'listEndpointVersions', {
      summary: 'List the versions of an endpoint with their authors, newest first; also after it was deleted',
      scope: 'changes:read',
      parameters: { after },
      problems: ['record_altered'],
      page: ['A page of changes', changeSchema],
      async read({ account_id, params: { id }, query: { limit, after } }) {
        const resource = resourceName('endpoint', id);
        if (!isId('endpoint', id)) throw notFound('endpoint', id);
        const rows = await changes.list(account_id, { resource }, limit + 1, after);
        const exists = rows.length > 0 || after !== undefined || (await endpoints.get(account_id, id));
        if (!exists) throw notFound('endpoint', id);
        return withNames(database, cutPage(rows, limit), account_id);
      },
    }),
  ];
}
