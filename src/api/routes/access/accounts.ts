import { z } from 'zod';
import type { Account } from '../../../domain/access/account.js';
import { PAYLOAD_RULES } from '../../../domain/access/account-deletion.js';
import { ACCOUNT_SCOPES, PLATFORM_SCOPES } from '../../../domain/access/api-key.js';
import { isId, newId } from '../../../domain/basics/ids.js';
import { notFound, Problem } from '../../../domain/http/problem.js';
import { logoOrigin } from '../../../domain/look/portal-look.js';
import { accountOfReference } from '../../http/caller/acting-account.js';
import { requireHeld, requireScope } from '../../http/caller/refusals.js';
import {
  answerTagged,
  changedMeanwhile,
  IF_NONE_MATCH,
  NOT_CHANGED,
  requireMatch,
} from '../../http/conditional.js';
import type { ApiDependencies, Context } from '../../http/context.js';
import { oneAfterAnother } from '../../http/found.js';
import { type Operation, operation } from '../../http/operation.js';
import { originOf } from '../../http/origin.js';
import { listOperation } from '../../http/paging.js';
import { invalidRequest } from '../../http/validation.js';
import { logoOrigins } from '../../web/portal-look.js';
import { requireEncrypted } from '../subjects/subjects.js';
import {
  accountEtag,
  accountLimits,
  accountSchema,
  accountWithKeySchema,
  portalLookPatch,
  portalLookSchema,
  referenceSchema,
} from './account-view.js';

const name = z.string().min(1).max(256);
const reference = referenceSchema.describe(
  'Your own name for the account, such as a customer number; unique among your accounts',
);

const newAccountBody = z.strictObject({
  name,
  reference: reference.optional(),
  limits: accountLimits.optional(),
  portal: portalLookSchema.optional().describe('How its portal looks'),
  platform: z
    .boolean()
    .default(false)
    .describe(
      'Whether its first key is a platform’s, which creates accounts and acts for them: operator only',
    ),
});

const accountPatch = z.strictObject({
  name: name.optional(),
  reference: reference.nullable().optional(),
  limits: z
    .strictObject({
      requests_per_minute: accountLimits.shape.requests_per_minute.unwrap().nullable().optional(),
      events_per_minute: accountLimits.shape.events_per_minute.unwrap().nullable().optional(),
      max_endpoints: accountLimits.shape.max_endpoints.unwrap().nullable().optional(),
    })
    .optional()
    .describe("null: the installation's"),
  portal: portalLookPatch.optional().describe("How its portal looks; null: as the installation's"),
});

/** Accounts: tenants, for their platforms and for the operator of the installation. */
export function accountOperations(dependencies: ApiDependencies): Operation[] {
  const { accountDeletions, sealer, settings } = dependencies;
  const { accounts, apiKeys, privateInputs } = dependencies.database;
  /** With how far its deletion is, while that is under way; and its tag. */
  const withProgress = async (account: Account): Promise<[string, Account]> => {
    const etag = accountEtag(account);
    const isErasing = account.erasure_requested_at && account.deletion?.keys_erased === undefined;
    if (account.status !== 'deleting' && !isErasing) return [etag, account];
    const deletion = await accountDeletions.shownProgress(account.id);
    return deletion ? [accountEtag(account, deletion), { ...account, deletion }] : [etag, account];
  };
  const refuseDeletion = async (ctx: Context, { id, status }: Account): Promise<string | undefined> => {
    if (id === ctx.state.caller.account_id)
      return 'This token belongs to the account: use another account’s.';
    if (status === 'active' && (await accounts.hasAccounts(id)))
      return 'The account is a platform that has accounts. Delete those first.';
    return undefined;
  };
  const scope = ['platform', 'admin'] as const;
  return [
    operation('post', '/accounts', 'createAccount', {
      summary:
        'Create an account. For the operator with its first API key, which is shown only in this response',
      scope,
      isAboutAccounts: true,
      body: newAccountBody,
      example: { name: 'Acme', reference: 'customer-42', limits: { events_per_minute: 600 } },
      responses: { 201: { description: 'The account', schema: accountWithKeySchema } },
      location: '/accounts/:id',
      isSecret: true,
      problems: ['account_reference_taken'],
      async handle({ account_id, body: { name, reference, limits, portal, platform: isPlatform } }, ctx) {
        requireManager(ctx);
        requireLogoOrigin(settings, portal?.logo_url);
        if (isPlatform) requireHeld(ctx, ['admin']);
        const { scopes, expires_at, desk_session_id } = ctx.state.caller;
        const id = newId('account');
        const origin = originOf(ctx, id);
        const ofPlatform = scopes.includes('platform');
        const platform_id = ofPlatform ? account_id : undefined;
        const input = { id, platform_id, limits, portal };
        const account =
          reference === undefined
            ? await accounts.create(name, origin, input)
            : await accounts.createNamed(name, reference, origin, input);
        if (!account) throw referenceTaken(reference);
        ctx.set('etag', accountEtag(account));
        if (ofPlatform) return account;
        const keyScopes = isPlatform ? PLATFORM_SCOPES : ACCOUNT_SCOPES;
        const { key, api_key } = await apiKeys.create(id, 'first key', keyScopes, origin, {
          expires_at: expires_at === undefined ? undefined : new Date(expires_at),
          desk_session_id,
        });
        return { ...account, api_key: { ...api_key, key } };
      },
    }),

    listOperation('/accounts', 'listAccounts', {
      summary: "List a platform's accounts, or for the operator all accounts, oldest first",
      scope,
      isAboutAccounts: true,
      parameters: { reference: reference.optional() },
      page: ['A page of accounts', accountSchema],
      async read({ account_id, query: { limit, after, reference } }, ctx) {
        const { scopes } = ctx.state.caller;
        const platform_id = scopes.includes('admin') ? undefined : account_id;
        return accounts.list(limit + 1, after, { platform_id, reference });
      },
    }),

    operation('get', '/accounts/:id', 'getAccount', {
      summary: 'Read an account: your own, or one of your platform',
      scope: ['keys:read', ...scope],
      isAboutAccounts: true,
      headers: IF_NONE_MATCH,
      responses: { 200: { description: 'The account', schema: accountSchema }, ...NOT_CHANGED },
      async handle({ params: { id } }, ctx) {
        answerTagged(ctx, ...(await withProgress(await findAccount(dependencies, ctx, id))));
      },
    }),

    operation('patch', '/accounts/:id', 'updateAccount', {
      summary:
        'Change name, reference, limits or the look of the portal of an account; limits take effect within two seconds',
      scope,
      isAboutAccounts: true,
      body: accountPatch,
      bodyTypes: ['application/merge-patch+json', 'application/json'],
      example: { limits: { max_endpoints: 50 } },
      headers: {
        'If-Match': 'The ETag that was read: the response is 412 if the account has changed since',
      },
      responses: { 200: { description: 'The account after the change', schema: accountSchema } },
      problems: ['account_reference_taken', 'account_state_conflict'],
      async handle({ params: { id: named }, body: patch }, ctx) {
        requireManager(ctx, named);
        requireLogoOrigin(settings, patch.portal?.logo_url);
        // Nobody keeps others from an account that is not theirs.
        const { id } = await findActiveAccount(dependencies, ctx, named);
        const changed = await oneAfterAnother(dependencies.database, id, 'account', id, async () => {
          const before = await findActiveAccount(dependencies, ctx, id);
          requireMatch(ctx, accountEtag(before));
          return accounts.change(id, patch, before.version, originOf(ctx, id));
        });
        if (!changed) throw changedMeanwhile();
        if (changed === 'reference_taken') throw referenceTaken(patch.reference);
        ctx.set('etag', accountEtag(changed));
        return changed;
      },
    }),

    operation('delete', '/accounts/:id', 'deleteAccount', {
      summary:
        'Delete an account: it accepts nothing from now on, its open deliveries are cancelled, its endpoints and credentials removed; its record stays',
      scope,
      isAboutAccounts: true,
      query: z.strictObject({
        payloads: z
          .enum(PAYLOAD_RULES)
          .default('keep')
          .describe(
            'erase: the data keys are deleted at the end, so that no payload of the account can be read again, in MongoDB or its backups; needs subjects:write. Also for an account that was deleted before',
          ),
      }),
      responses: {
        202: { description: 'Its deletion has begun; GET tells how far it is', schema: accountSchema },
      },
      location: '/accounts/:id',
      problems: ['account_state_conflict', 'payloads_not_encrypted'],
      async handle({ params: { id: named }, query: { payloads } }, ctx) {
        requireManager(ctx, named);
        if (payloads === 'erase') requireScope(ctx, 'subjects:write');
        const account = await findAccount(dependencies, ctx, named);
        const { id } = account;
        const refusal = await refuseDeletion(ctx, account);
        if (refusal) throw new Problem('account_state_conflict', refusal);
        const isErased = account.deletion?.keys_erased !== undefined;
        if (account.status !== 'deleted' || (payloads === 'erase' && !isErased)) {
          if (payloads === 'erase') requireEncrypted(sealer);
          const origin = originOf(ctx, id);
          // Durable first: whatever happens here, it goes on.
          const does = await accountDeletions.start({
            account_id: id,
            origin: await privateInputs.keepOrigin(origin),
            ...(payloads === 'erase' && { payloads }),
          });
          if (!does) throw new Problem('account_state_conflict', KEEPS_PAYLOADS);
          await accounts.beginDeletion(id, origin, payloads);
        }
        return (await withProgress((await accounts.get(id)) ?? account))[1];
      },
    }),
  ];
}

/**
 * An account that the caller may see: its own, its platform's, or any for the operator.
 *
 * @param named its id, or the reference that the caller gave it
 * @throws Problem 404
 */
export async function findAccount(
  { database: { accounts } }: Pick<ApiDependencies, 'database'>,
  ctx: Context,
  named: string,
): Promise<Account> {
  const { account_id, scopes } = ctx.state.caller;
  const id = isId('account', named)
    ? named
    : (await accountOfReference(accounts, ctx.state.caller, named))?.id;
  const account = id === undefined ? undefined : await accounts.get(id);
  const isOwn = account?.id === account_id;
  const isOfPlatform = account?.platform_id === account_id && scopes.includes('platform');
  if (!account || !(isOwn || isOfPlatform || scopes.includes('admin'))) throw notFound('account', named);
  return account;
}

/** As {@link findAccount}, for what can be done only while the account is active. @throws Problem 404, 409 */
export async function findActiveAccount(
  dependencies: Pick<ApiDependencies, 'database'>,
  ctx: Context,
  named: string,
): Promise<Account> {
  const account = await findAccount(dependencies, ctx, named);
  if (account.status === 'active') return account;
  throw new Problem(
    'account_state_conflict',
    `The account ${account.id} is ${account.status}: it can only be read.`,
  );
}

const KEEPS_PAYLOADS =
  'The account is being deleted, and that keeps its payloads. Ask again once its status is deleted.';

/**
 * Requires a caller who may manage accounts, because accounts decide about access and limits: not a platform's key that
 * only posts events, and not a platform for its own account.
 *
 * @throws Problem 403
 */
function requireManager(ctx: Context, accountId?: string): void {
  const { account_id, scopes } = ctx.state.caller;
  if (scopes.includes('admin')) return;
  requireHeld(ctx, accountId === account_id ? ['admin'] : ['keys:write']);
}

/** The policy of the portal names where its pictures come from, so the installation says so. @throws Problem 400 */
function requireLogoOrigin(settings: ApiDependencies['settings'], url: string | null | undefined): void {
  if (!url) return;
  const allowed = logoOrigins(settings);
  if (allowed.includes(logoOrigin(url) ?? '')) return;
  const detail =
    allowed.length === 0
      ? 'cannot be set: this installation allows no origin of logos (HOOKLINE_PORTAL_LOGO_ORIGINS)'
      : `must be at one of: ${allowed.join(', ')}`;
  throw invalidRequest([{ pointer: '/portal/logo_url', detail }]);
}

function referenceTaken(reference: string | null | undefined): Problem {
  return new Problem(
    'account_reference_taken',
    `There is an account with the reference ${reference}: GET /accounts?reference=${reference} shows it.`,
  );
}
