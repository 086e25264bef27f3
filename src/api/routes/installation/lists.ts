import { z } from 'zod';
import { isId } from '../../../domain/basics/ids.js';
import { isClosed, SHOWN_STATUSES } from '../../../domain/delivery/delivery.js';
import { ENDPOINT_STATUSES } from '../../../domain/endpoint/endpoint.js';
import { requireScope } from '../../http/caller/refusals.js';
import type { ApiDependencies } from '../../http/context.js';
import { renderLedgerPage } from '../../http/ledger-paging.js';
import { listParameter } from '../../http/list-parameter.js';
import { type Operation, operation } from '../../http/operation.js';
import { cutPage, pagingParameters, renderPage } from '../../http/paging.js';
import { pageOf } from '../../http/schemas.js';
import { changeSchema } from '../changes/change-view.js';
import { changeParameters } from '../changes/changes.js';
import { withNames } from '../changes/with-names.js';
import { deliverySummarySchema, extraFields } from '../deliveries/delivery-view.js';
import { deliveryParameters, kindParameter } from '../deliveries/filters.js';
import { includeParameter, withBusinessKeys } from '../deliveries/row-extras.js';
import { endpointWithIncidentSchema, renderEndpoint } from '../endpoints/endpoint-view.js';
import {
  accountOfRowSchema,
  endpointNameSchema,
  OPERATORS,
  withAccounts,
  withEndpoints,
} from './of-accounts.js';

const account = accountOfRowSchema.describe('Whose it is');
const { status, open, created_after, created_before } = deliveryParameters;
const endpointCursor = z
  .string()
  .refine((text) => isId('endpoint', text), 'must be a cursor of this list, as an earlier page gave it');

/** Deliveries, endpoints and changes of all accounts, for the operator. */
export function installationListOperations({
  database,
  incidents,
  installation,
}: ApiDependencies): Operation[] {
  return [
    operation({
      method: 'get',
      path: '/installation/deliveries',
      id: 'listInstallationDeliveries',
      summary:
        'List the deliveries of all accounts that Temporal keeps: open ones first, then the latest closed',
      ...OPERATORS,
      query: z.strictObject({
        ...pagingParameters,
        event_kind: kindParameter,
        ...{ status, open, created_after, created_before },
        include: includeParameter,
      }),
      responses: {
        200: {
          description:
            'A page of deliveries. It can have fewer rows than its limit: only a page without next is the last',
          schema: pageOf(
            deliverySummarySchema
              .extend({ ...extraFields, account, endpoint_name: endpointNameSchema })
              .meta({ id: 'InstallationDelivery' }),
          ),
        },
      },
      problems: [],
      async handle(ctx, { query: { limit, after, status: asked, open: isOpen, include, ...filter } }) {
        requireScope(ctx, 'deliveries:read');
        const statuses =
          isOpen === undefined ? asked : (asked ?? SHOWN_STATUSES).filter((one) => isClosed(one) !== isOpen);
        const none = statuses?.length === 0;
        ctx.body = await renderLedgerPage(ctx, database, 'installation/deliveries', after, async (from) => {
          if (none) return { data: [] };
          const { data, ...rest } = await installation.deliveries(
            { ...filter, statuses },
            limit,
            from,
            include,
          );
          const keyed = await withBusinessKeys(database, data, (row) => row.account_id);
          return { ...rest, data: await withAccounts(database, await withEndpoints(database, keyed)) };
        });
      },
    }),

    operation({
      method: 'get',
      path: '/installation/endpoints',
      id: 'listInstallationEndpoints',
      summary: 'List the endpoints of all accounts, oldest first',
      ...OPERATORS,
      query: z.strictObject({
        ...pagingParameters,
        after: endpointCursor.optional(),
        status: listParameter(ENDPOINT_STATUSES, 'One of these statuses, separated by commas'),
        health: z
          .enum(['healthy', 'failing'])
          .optional()
          .meta({ description: 'failing: it has an open incident' }),
        host: z
          .string()
          .regex(/^[\w.:[\]-]{1,253}$/, 'must be a host or a part of one, such as hooks.example.com')
          .optional()
          .meta({ description: 'A part of the host of the URL' }),
      }),
      responses: {
        200: {
          description: 'A page of endpoints',
          schema: pageOf(endpointWithIncidentSchema.extend({ account }).meta({ id: 'InstallationEndpoint' })),
        },
      },
      problems: [],
      async handle(ctx, { query: { limit, after, status: statuses, health, host } }) {
        requireScope(ctx, 'endpoints:read');
        const isFailing = health === undefined ? undefined : health === 'failing';
        const rows = await database.everyEndpoint.list({ statuses, isFailing, host }, limit + 1, after);
        const { data, ...rest } = cutPage(rows, limit);
        const shown = await Promise.all(
          data.map(async (endpoint) => {
            const key = { account_id: endpoint.account_id, endpoint_id: endpoint.id };
            const incident = endpoint.failing && (await incidents.get(key));
            return {
              ...renderEndpoint(endpoint),
              ...(incident && { incident }),
              account_id: endpoint.account_id,
            };
          }),
        );
        ctx.body = renderPage(ctx, { ...rest, data: await withAccounts(database, shown) });
      },
    }),

    operation({
      method: 'get',
      path: '/installation/changes',
      id: 'listInstallationChanges',
      summary: 'List who changed what in all accounts, newest first',
      ...OPERATORS,
      query: z.strictObject(changeParameters),
      responses: {
        200: {
          description: 'A page of changes',
          schema: pageOf(changeSchema.extend({ account }).meta({ id: 'InstallationChange' })),
        },
      },
      problems: [],
      async handle(ctx, { query: { limit, after, ...filter } }) {
        requireScope(ctx, 'changes:read');
        const { data, ...rest } = cutPage(await database.changes.everywhere(filter, limit + 1, after), limit);
        const named = await withNames(database, data);
        ctx.body = renderPage(ctx, { ...rest, data: await withAccounts(database, named) });
      },
    }),
  ];
}
