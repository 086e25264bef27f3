import type { Scope } from '../../domain/access/api-key.js';
import { Problem } from '../../domain/http/problem.js';
import { missingScope } from './caller/refusals.js';
import type { Context } from './context.js';

/** A caller may grant only scopes that it holds itself. @throws Problem 403 naming the first scope that it does not hold */
export function requireHeld(ctx: Context, scopes: readonly Scope[]): void {
  const absent = scopes.find((scope) => !ctx.state.caller.scopes.includes(scope));
  if (absent) throw missingScope(absent);
}

/** Only who may read all profiles can let others read one that is not the caller's own. @throws Problem 403 */
export function requireProfileHeld(ctx: Context, profileId: string, scopes: readonly Scope[]): void {
  if (scopes.includes('profile:read') && profileId !== ctx.state.caller.profile_id) {
    requireHeld(ctx, ['profiles:read']);
  }
}

/** Nothing that stays until somebody deletes it is made with a key that expires. @throws Problem 403 */
export function requireLasting(ctx: Context): void {
  const { expires_at } = ctx.state.caller;
  if (expires_at === undefined) return;
  throw new Problem(
    'expiring_key',
    `This API key expires at ${expires_at}, and what it makes here would not. Use a key without an expiry.`,
  );
}
