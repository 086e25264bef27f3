import type { IncomingMessage } from 'node:http';
import type { Account } from '../../domain/access/account.js';
import type { Caller } from '../http/caller/caller.js';
import { addressKey, tokenKey } from './limit-rate.js';
import type { Limiters } from './limiters.js';
import { anonymous, type Verdict } from './rate-limiter.js';

/** Counts requests for the streams of listeners, which pass no middleware, in the limits of all requests. */
export interface UpgradeLimits {
  /** Counts one that has no valid ticket, against its address. */
  refused(request: IncomingMessage): Verdict;
  /** Counts one that has, against the token that the ticket was given to. */
  allowed(holder: { caller: Caller; account: Account | undefined }): Verdict;
}

/** @param addressOf the caller's address, as for every request */
export function createUpgradeLimits(
  { address, token }: Limiters,
  addressOf: (request: IncomingMessage) => string,
): UpgradeLimits {
  return {
    refused: (request) => address.consume(anonymous(addressKey(addressOf(request)))),
    allowed: ({ caller, account }) =>
      token.consume(tokenKey(caller), Date.now(), account?.limits.requests_per_minute),
  };
}
