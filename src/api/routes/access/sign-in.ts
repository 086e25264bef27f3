import type Router from '@koa/router';
import { z } from 'zod';
import { OPERATOR_SCOPES } from '../../../domain/access/api-key.js';
import { PORTAL_SCOPES } from '../../../domain/access/portal-session.js';
import type { SignIn } from '../../../domain/access/sign-in-codes.js';
import { OPERATOR } from '../../../domain/change/change.js';
import { Problem } from '../../../domain/http/problem.js';
import type { Database } from '../../../models/database.js';
import { checkBytes, readJsonBytes } from '../../http/body.js';
import type { ApiDependencies, State } from '../../http/context.js';

/** How long whoever used a code stays signed in, milliseconds: a day's work. */
const SIGNED_IN_MS = 12 * 3_600_000;
const MAX_BODY_BYTES = 1_024;
const bodySchema = z.strictObject({ code: z.string() });

/** `POST /sign_in`: what the page does with the link that `hookline dev` has printed. It is there under `hookline dev` alone. */
export function signInRoute(
  router: Router<State>,
  { development, database }: Pick<ApiDependencies, 'development' | 'database'>,
): void {
  if (!development) return;
  router.post('/sign_in', async (ctx) => {
    const { code } = checkBytes(bodySchema, await readJsonBytes(ctx, MAX_BODY_BYTES));
    const signIn = development.signIns.take(code);
    if (!signIn)
      throw new Problem(
        'invalid_token',
        'The link was used already, or is older than an hour: each start prints new ones.',
      );
    ctx.set('cache-control', 'no-store');
    ctx.body = { role: signIn.role, token: await tokenFor(database, signIn) };
  });
}

async function tokenFor(
  { portalSessions, apiKeys }: Database,
  { role, account_id }: SignIn,
): Promise<string> {
  const expires_at = new Date(Date.now() + SIGNED_IN_MS);
  if (role === 'portal') {
    const input = { name: 'hookline dev', scopes: [...PORTAL_SCOPES], expires_at };
    return (await portalSessions.create(account_id, input, OPERATOR)).token;
  }
  return (await apiKeys.create(account_id, 'desk of hookline dev', OPERATOR_SCOPES, OPERATOR, { expires_at }))
    .key;
}
