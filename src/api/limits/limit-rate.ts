import ipaddr from 'ipaddr.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import type { Caller } from '../http/caller/caller.js';
import type { Context, Middleware } from '../http/context.js';
import type { Limiters } from './limiters.js';
import { anonymous, type RateLimiter } from './rate-limiter.js';

/** Counts every request against the caller's address. @throws Problem 429 */
export function limitAddress({ address }: Limiters): Middleware {
  return async (ctx, next) => {
    count(ctx, address, anonymous(addressKey(ctx.ip)));
    await next();
  };
}

/**
 * Counts requests that end before their caller is known against the address, so that tokens cannot be guessed without
 * limit. A valid token passes, whatever else its address sends.
 *
 * @throws Problem 429
 */
export function limitUnauthenticated({ address }: Limiters): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (!ctx.state.caller) count(ctx, address, anonymous(addressKey(ctx.ip)));
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
    if (ctx.method === 'POST' && EVENTS.test(ctx.path))
      count(ctx, account, caller.account_id, events_per_minute);
    else count(ctx, token, tokenKey(caller), requests_per_minute);
    await next();
  };
}

/** What the requests of a token are counted by: for each account that it acts for. */
export function tokenKey({ id, profile_id }: Caller): string {
  return `${id}:${profile_id}`;
}

const EVENTS = /^\/[^/]+\/events\//;

function count(ctx: Context, limiter: RateLimiter, key: string, perMinute?: number): void {
  const { headers, refusal } = limiter.consume(key, sharedNow(), perMinute);
  ctx.set(headers);
  if (refusal) throw refusal;
}

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
