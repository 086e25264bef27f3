import ipaddr from 'ipaddr.js';
import { Problem } from '../../domain/http/problem.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import { hasTooManyParameters, MAX_QUERY_PARAMETERS } from '../http/bounds/query.js';
import type { Caller } from '../http/caller/caller.js';
import { ownPageOf } from '../http/caller/this-machine.js';
import type { Context, Development, Middleware } from '../http/context.js';
import { bearsToken } from '../http/middleware/authenticate.js';
import type { Limiters } from './limiters.js';
import { anonymous, type RateLimiter } from './rate-limiter.js';

/**
 * Counts every request against the caller's address. Under `hookline dev` each page of ours is counted by itself: other
 * pages in the same browser, which send what they like, do not lock its sign-in.
 *
 * @throws Problem 429
 */
export function limitAddress({ address }: Limiters, development?: Development): Middleware {
  return async (ctx, next) => {
    const page = ownPageOf(ctx, development);
    count(ctx, address, page === undefined ? addressOf(ctx) : anonymous(`page ${page}`));
    await next();
  };
}

/**
 * Refuses a query of more parameters than any operation takes before anything reads it, and counts it against the
 * address.
 *
 * @throws Problem 400, 429
 */
export function limitQuery({ address }: Limiters): Middleware {
  return (ctx, next) => {
    if (!hasTooManyParameters(ctx.querystring)) return next();
    count(ctx, address, addressOf(ctx));
    throw new Problem(
      'invalid_request',
      `The request is not valid: the query must have at most ${MAX_QUERY_PARAMETERS} parameters.`,
    );
  };
}

/**
 * Counts requests that are refused before their caller is known against the address, so that tokens cannot be guessed
 * without limit; an address that has used up its limit is refused before anything else is done for it. A token passes,
 * whatever else its address sends, unless it is found to be invalid: of what cannot be looked up that is not known.
 *
 * @throws Problem 429
 */
export function limitUnauthenticated({ address }: Limiters): Middleware {
  return async (ctx, next) => {
    const who = addressOf(ctx);
    if (address.refuses(who) && !bearsToken(ctx)) count(ctx, address, who);
    try {
      await next();
    } catch (error) {
      const isRefused = error instanceof Problem && error.status < 500;
      if (isRefused && !ctx.state.caller) count(ctx, address, who);
      throw error;
    }
  };
}

/**
 * Counts an authenticated request: events against the account, everything else against the token; by the account's own
 * limits, if it has any.
 *
 * @throws Problem 429
 */
export function limitCaller({ token, account }: Limiters): Middleware {
  return async (ctx, next) => {
    const { caller } = ctx.state;
    const { events_per_minute, requests_per_minute } = ctx.state.account?.limits ?? {};
    if (ctx.method === 'POST' && EVENTS.test(ctx.path)) {
      count(ctx, account, caller.account_id, events_per_minute);
      ctx.state.countEvents = (more) => countMore(ctx, account, more, events_per_minute);
    } else count(ctx, token, tokenKey(caller), requests_per_minute);
    await next();
  };
}

/**
 * Counts further events of a request together with its first, which was counted when the request arrived: maybe in an
 * earlier window. If they are refused, none has been counted.
 */
function countMore(ctx: Context, limiter: RateLimiter, more: number, perMinute: number | undefined): void {
  ctx.state.uncount?.();
  count(ctx, limiter, ctx.state.caller.account_id, perMinute, 1 + more);
}

/** Key by which the requests of a token are counted: one for each account that it acts for. */
export function tokenKey({ id, profile_id }: Caller): string {
  return `${id}:${profile_id}`;
}

const EVENTS = /^\/[^/]+\/(scheduled_)?events(\/|$)/;

function count(ctx: Context, limiter: RateLimiter, key: string, perMinute?: number, times = 1): void {
  const { headers, refusal, giveBack } = limiter.consume(key, sharedNow(), perMinute, times);
  ctx.set(headers);
  if (refusal) throw refusal;
  ctx.state.uncount = giveBack;
}

/** Key by which requests without a token are counted. */
const addressOf = ({ ip }: Context): string => anonymous(addressKey(ip));

/** IPv4 addresses one by one; of IPv6 the network of 64 bits, which is what one caller is given. */
export function addressKey(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return address.toString();
  return (address as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':');
}
