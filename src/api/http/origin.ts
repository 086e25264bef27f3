import ipaddr from 'ipaddr.js';
import { ownProfileId } from '../../domain/access/profile.js';
import { isId } from '../../domain/basics/ids.js';
import type { Actor, Origin } from '../../domain/change/change.js';
import type { Caller, Context } from './context.js';

/** Who asks for a change, from where: what is recorded with it. */
export function originOf(ctx: Context): Origin {
  return { actor: actorOf(ctx.state.caller), ...requestOf(ctx) };
}

/** Where a request comes from, for a caller who is known in another way than by a token. */
export function requestOf(ctx: Context): Pick<Origin, 'address' | 'request_id'> {
  return { address: plainAddress(ctx.ip), request_id: ctx.state.request_id };
}

function actorOf({ id, account_id, profile_id }: Caller): Actor {
  if (isId('api_key', id)) return { type: 'api_key', id };
  // A client that acts for the account has the account's own profile.
  const person = profile_id !== ownProfileId(account_id) && { person: profile_id };
  return { type: 'oauth_client', id, ...person };
}

/** IPv4 addresses as such, also where the socket speaks IPv6. */
function plainAddress(ip: string): string {
  return ipaddr.isValid(ip) ? ipaddr.process(ip).toString() : ip;
}
