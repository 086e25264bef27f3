import { z } from 'zod';
import { ACCOUNT_SCOPES } from '../../../domain/access/api-key.js';
import { isId } from '../../../domain/basics/ids.js';
import { notFound } from '../../../domain/http/problem.js';
import type { ApiDependencies } from '../../http/context.js';
import { type Operation, operation } from '../../http/operation.js';
import { originOf } from '../../http/origin.js';
import { cutPage, pagingParameters, renderPage } from '../../http/paging.js';
import { pageOf } from '../../http/schemas.js';
import { accountSchema, accountWithKeySchema } from './account-view.js';

/** Accounts: tenants, for the operator of the installation. */
export function accountOperations({ database }: ApiDependencies): Operation[] {
  const { accounts, apiKeys } = database;
  return [
    operation({
      method: 'post',
      path: '/accounts',
      id: 'createAccount',
      summary: 'Create an account and its first API key, which is shown only in this answer',
      scope: 'admin',
      body: z.strictObject({ name: z.string().min(1).max(256) }),
      responses: { 201: { description: 'The account, with its first key', schema: accountWithKeySchema } },
      problems: [],
      async handle(ctx, { body: { name } }) {
        const account = await accounts.create(name, originOf(ctx));
        const { key, api_key } = await apiKeys.create(account.id, 'first key', ACCOUNT_SCOPES, originOf(ctx));
        ctx.status = 201;
        ctx.set({ location: `${ctx.path}/${account.id}`, 'cache-control': 'no-store' });
        ctx.body = { ...account, api_key: { ...api_key, key } };
      },
    }),

    operation({
      method: 'get',
      path: '/accounts',
      id: 'listAccounts',
      summary: 'List accounts, oldest first',
      scope: 'admin',
      query: z.strictObject(pagingParameters),
      responses: { 200: { description: 'A page of accounts', schema: pageOf(accountSchema) } },
      problems: [],
      async handle(ctx, { query: { limit, after } }) {
        ctx.body = renderPage(ctx, cutPage(await accounts.list(limit + 1, after), limit));
      },
    }),

    operation({
      method: 'get',
      path: '/accounts/:id',
      id: 'getAccount',
      summary: 'Read an account',
      scope: 'admin',
      responses: { 200: { description: 'The account', schema: accountSchema } },
      problems: [],
      async handle(ctx, { params: { id = '' } }) {
        const account = isId('account', id) ? await accounts.get(id) : undefined;
        if (!account) throw notFound('account', id);
        ctx.body = account;
      },
    }),
  ];
}
