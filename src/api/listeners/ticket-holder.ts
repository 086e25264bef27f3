import { Problem } from '../../domain/http/problem.js';
import { actingCaller } from '../http/caller/acting-account.js';
import { checkCredential } from '../http/caller/token-check.js';
import type { ApiDependencies } from '../http/context.js';
import type { Ticket } from './tickets.js';

/** Scope that a token must have for a ticket, and as long as the stream is open. */
export const STREAM_SCOPE = 'endpoints:write';

/**
 * Holder of a ticket, checked as if its token asked for it again: up to two seconds old, as everywhere.
 *
 * @returns `undefined` if the token was revoked, has expired, or does not allow it any more
 */
export async function ticketHolder(
  dependencies: Pick<ApiDependencies, 'database' | 'logger' | 'settings'>,
  { account_id, credential }: Ticket,
): Promise<Awaited<ReturnType<typeof actingCaller>> | undefined> {
  try {
    const caller = await checkCredential(dependencies, credential);
    const holder = await actingCaller(dependencies.database, caller, account_id, false);
    return holder.caller.scopes.includes(STREAM_SCOPE) ? holder : undefined;
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}
