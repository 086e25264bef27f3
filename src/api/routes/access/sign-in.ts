import type Router from '@koa/router';
import { z } from 'zod';
import { OPERATOR_SCOPES } from '../../../domain/access/api-key.js';
import { PORTAL_SCOPES } from '../../../domain/access/portal-session.js';
import type { SignIn } from '../../../domain/access/sign-in-codes.js';
import { UNITS } from '../../../domain/basics/duration.js';
import { OPERATOR } from '../../../domain/change/change.js';
import { Problem } from '../../../domain/http/problem.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { Database } from '../../../models/database.js';
import { checkBytes, readJsonBytes } from '../../http/body.js';
import type { ApiDependencies, State } from '../../http/context.js';

const bodySchema = z.strictObject({ code: z.string() });

/**
 * `POST /sign_in`: what the page does with the link that `hookline dev` has printed. It is there under `hookline dev`
 * alone.
 */
export function signInRoute(router: Router<State>, { development, database }: ApiDependencies): void {
  if (!development) return;
  router.post('/sign_in', async (ctx) => {
    const { code } = checkBytes(bodySchema, await readJsonBytes(ctx, 1_024));
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
  // A day's work.
  const expires_at = new Date(sharedNow() + 12 * UNITS.h);
  if (role === 'portal') {
    const input = { name: 'hookline dev', scopes: [...PORTAL_SCOPES], expires_at };
    return (await portalSessions.create(account_id, input, OPERATOR)).token;
  }
  return (await apiKeys.create(account_id, 'desk of hookline dev', OPERATOR_SCOPES, OPERATOR, { expires_at }))
    .key;
}
