import { z } from 'zod';
import { EVENT_KINDS, type EventKind } from '../../../domain/event/event-kinds.js';
import { type Catalogue, catalogueAsAsyncApi, catalogueAsOpenApi } from '../../docs/catalogue.js';
import type { ApiDependencies, Context } from '../../http/context.js';
import { type Operation, operation } from '../../http/operation.js';

const documentSchema = z.record(z.string(), z.unknown());

/** The account's event kinds as documents that other people's generators read. */
export function catalogueOperations({ database: { eventKinds } }: ApiDependencies): Operation[] {
  const read = async (accountId: string, ctx: Context): Promise<Catalogue> => {
    const own = (await eventKinds.all(accountId)).flatMap(({ name, description, versions }): EventKind[] => {
      const newest = versions.at(-1);
      return newest ? [{ name, description, ...newest }] : [];
    });
    const names = new Set(own.map(({ name }) => name));
    const kinds = [...own, ...EVENT_KINDS.filter(({ name }) => !names.has(name))];
    return { account: ctx.state.account?.name || accountId, kinds };
  };

  return [
    operation('get', '/catalogue/openapi.json', 'getOpenApiCatalogue', {
      summary:
        "Describe what the account's endpoints receive as OpenAPI 3.1, with a webhook for each event kind",
      scope: 'endpoints:read',
      responses: { 200: { description: 'The document', schema: documentSchema } },
      handle: async ({ account_id }, ctx) => catalogueAsOpenApi(await read(account_id, ctx)),
    }),

    operation('get', '/catalogue/asyncapi.json', 'getAsyncApiCatalogue', {
      summary:
        "Describe what the account's endpoints receive as AsyncAPI 3, with a message for each event kind",
      scope: 'endpoints:read',
      responses: { 200: { description: 'The document', schema: documentSchema } },
      handle: async ({ account_id }, ctx) => catalogueAsAsyncApi(await read(account_id, ctx)),
    }),
  ];
}
