import type { Scope } from '../../domain/access/api-key.js';
import type { Context } from './context.js';
import { missingScope } from './middleware/authenticate.js';

/** Nobody gives away what they do not have. @throws Problem 403 naming the first scope that the caller does not hold */
export function requireHeld(ctx: Context, scopes: readonly Scope[]): void {
  const absent = scopes.find((scope) => !ctx.state.caller.scopes.includes(scope));
  if (absent) throw missingScope(absent);
}
