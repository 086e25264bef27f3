import type { Scope } from '../../domain/access/api-key.js';
import type { Context } from './context.js';
import { missingScope } from './middleware/authenticate.js';

/** A caller may grant only scopes that it holds itself. @throws Problem 403 naming the first scope that it does not hold */
export function requireHeld(ctx: Context, scopes: readonly Scope[]): void {
  const absent = scopes.find((scope) => !ctx.state.caller.scopes.includes(scope));
  if (absent) throw missingScope(absent);
}
