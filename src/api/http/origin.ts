import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { ownProfileId } from '../../domain/access/profile.js';
import { type Actor, type ChangeAction, MAX_REASON_LENGTH, type Origin } from '../../domain/change/change.js';
import { Problem } from '../../domain/http/problem.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import type { ChangeRepository } from '../../models/change/changes.js';
import {
  DeliveryStateConflictError,
  ReplayStateConflictError,
  TooManyReplaysError,
} from '../../temporal/errors.js';
import type { Caller } from './caller/caller.js';
import type { Context } from './context.js';

/**
 * Author of a change and where the request came from, as recorded with the change.
 *
 * @param accountId account of the change; default: the caller's
 */
export function originOf(ctx: Context, accountId = ctx.state.caller.account_id): Origin {
  const { account_id, home_account_id = account_id } = ctx.state.caller;
  const from = home_account_id !== accountId && { account_id: home_account_id };
  return { actor: { ...actorOf(ctx.state.caller), ...from }, ...requestOf(ctx) };
}

/** Where a request comes from, for a caller who is known in another way than by a token. */
export function requestOf(ctx: Context): Pick<Origin, 'address' | 'request_id'> {
  return { address: plainAddress(ctx.ip), request_id: ctx.state.request_id };
}

function actorOf({ type, id, person, account_id, profile_id }: Caller): Actor {
  if (type === 'desk_session') return { type: 'person', id: person?.subject ?? id };
  if (type !== 'oauth_client') return { type, id };
  // A client that acts for the account has the account's own profile.
  const ofProfile = profile_id !== ownProfileId(account_id) && { person: profile_id };
  return { type, id, ...ofProfile };
}

/** IPv4 addresses as such, also where the socket speaks IPv6. */
function plainAddress(ip: string): string {
  return ipaddr.isValid(ip) ? ipaddr.process(ip).toString() : ip;
}

export const reasonSchema = z
  .string()
  .min(1)
  .max(MAX_REASON_LENGTH)
  .optional()
  .describe('Reason, recorded with the author of the action (GET /changes)');

/** The body of an act. */
export const actBody = z.strictObject({ reason: reasonSchema });

/** Errors that say that nothing was done. */
const REFUSALS = [DeliveryStateConflictError, ReplayStateConflictError, TooManyReplaysError];

/**
 * Records an act before it is done, so that none is done without a record, and how it ended after that.
 *
 * @param act is given the name under which it is found again; returns `undefined` if there is nothing to act upon
 * @param isThere whether the account has what was to be acted upon: what it does not have gets no record
 */
export async function recordedAct<T>(
  changes: ChangeRepository,
  ctx: Context,
  {
    reason,
    ...change
  }: { resource: string; action: ChangeAction; reason: string | undefined; after?: string },
  act: (name: string) => Promise<T | undefined>,
  isThere: () => Promise<boolean> = async () => true,
): Promise<T | undefined> {
  const { id, at, ended, withdrawn } = await changes.announce(
    { ...originOf(ctx), ...(reason !== undefined && { reason }) },
    { account_id: ctx.state.caller.account_id, ...change },
  );
  // It begins soon after it was recorded, or not at all: later, somebody may have found it undone.
  if (sharedNow() - at > 20_000) {
    await ended('refused');
    throw new Problem('unavailable', 'Nothing was done: to record it took too long.');
  }
  let result: T | undefined;
  try {
    result = await act(id);
  } catch (error) {
    if (REFUSALS.some((refusal) => error instanceof refusal)) await ended('refused');
    throw error;
  }
  if (result !== undefined) await ended('done');
  else if (await isThere()) await ended('refused');
  else await withdrawn();
  return result;
}
