import { z } from 'zod';
import { listEveryDelivery } from '../../../temporal/read/every-delivery.js';
import { requireScope } from '../../http/caller/refusals.js';
import type { ApiDependencies } from '../../http/context.js';
import { ledgerPage } from '../../http/ledger-paging.js';
import type { Operation } from '../../http/operation.js';
import { cutPage, listOperation } from '../../http/paging.js';
import { changeSchema, withNames } from '../changes/change-view.js';
import { changeParameters } from '../changes/changes.js';
import { deliverySummarySchema, extraFields } from '../deliveries/delivery-view.js';
import { deliveryParameters, kindParameter, statusesOf } from '../deliveries/filters.js';
import { includeParameter, withBusinessKeys } from '../deliveries/row-extras.js';
import { endpointParameters, endpointWithIncidentSchema, withIncident } from '../endpoints/endpoint-view.js';
import {
  accountOfRowSchema,
  endpointNameSchema,
  OPERATORS,
  withAccounts,
  withEndpoints,
} from './of-accounts.js';

const account = accountOfRowSchema.describe('Its account');
const { status, open, created_after, created_before } = deliveryParameters;

/** Deliveries, endpoints and changes of all accounts, for the operator. */
export function installationListOperations({ database, incidents }: ApiDependencies): Operation[] {
  return [
    listOperation('/installation/deliveries', 'listInstallationDeliveries', {
      summary: 'List the deliveries of all accounts: open ones first, then the latest closed',
      ...OPERATORS,
      parameters: {
        event_kind: kindParameter,
        ...{ status, open, created_after, created_before },
        include: includeParameter,
      },
      page: [
        'A page of deliveries. It can have fewer rows than its limit: only a page without next is the last',
        deliverySummarySchema
          .extend({ ...extraFields, account, endpoint_name: endpointNameSchema })
          .meta({ id: 'InstallationDelivery' }),
      ],
      async read({ account_id, query: { limit, after, status, open, include, ...others } }, ctx) {
        requireScope(ctx, 'deliveries:read');
        const filter = { ...others, statuses: statusesOf(status, open) };
        return ledgerPage(database, 'installation/deliveries', account_id, after, async (from) => {
          if (filter.statuses?.length === 0) return { data: [] };
          const { records } = database;
          const { data, ...rest } = await listEveryDelivery(records, filter, limit, from, include);
          const keyed = await withBusinessKeys(database, data, (row) => row.account_id);
          return { ...rest, data: await withAccounts(database, await withEndpoints(database, keyed)) };
        });
      },
    }),

    listOperation('/installation/endpoints', 'listInstallationEndpoints', {
      summary: 'List the endpoints of all accounts, oldest first',
      ...OPERATORS,
      parameters: {
        ...endpointParameters,
        host: z
          .string()
          .regex(/^[\w.:[\]-]{1,253}$/, 'must be a host or a part of one, such as hooks.example.com')
          .optional()
          .meta({ description: 'A part of the host of the URL' }),
      },
      page: [
        'A page of endpoints',
        endpointWithIncidentSchema
          .omit({ account_id: true })
          .extend({ account })
          .meta({ id: 'InstallationEndpoint' }),
      ],
      async read({ query: { limit, after, status: statuses, health, host } }, ctx) {
        requireScope(ctx, 'endpoints:read');
        const isFailing = health === undefined ? undefined : health === 'failing';
        const rows = await database.everyEndpoint.list({ statuses, isFailing, host }, limit + 1, after);
        const { data, ...rest } = cutPage(rows, limit);
        const shown = await Promise.all(data.map((endpoint) => withIncident(incidents, endpoint)));
        return { ...rest, data: await withAccounts(database, shown) };
      },
    }),

    listOperation('/installation/changes', 'listInstallationChanges', {
      summary: 'List who changed what in all accounts, newest first',
      ...OPERATORS,
      parameters: changeParameters,
      problems: ['record_altered'],
      page: ['A page of changes', changeSchema.extend({ account }).meta({ id: 'InstallationChange' })],
      async read({ query: { limit, after, ...filter } }, ctx) {
        requireScope(ctx, 'changes:read');
        const rows = await database.changes.everywhere(filter, limit + 1, after);
        const { data, ...rest } = await withNames(database, cutPage(rows, limit));
        return { ...rest, data: await withAccounts(database, data) };
      },
    }),
  ];
}
