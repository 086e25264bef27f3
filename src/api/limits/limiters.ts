import type { Settings } from '../../config/schema.js';
import type { RateCounters } from '../../domain/access/rate-counters.js';
import type { Metrics } from '../http/metrics.js';
import { RateLimiter } from './rate-limiter.js';

/** The limiters of the API. */
export interface Limiters {
  /** Per token: everything but events. */
  token: RateLimiter;
  /** Per account: events. */
  account: RateLimiter;
  /** Per address: requests without a valid token, OAuth's, and the documentation's. */
  address: RateLimiter;
  /** Per login name: tries to log in. */
  login: RateLimiter;
}

/** Makes the API's limiters as the settings say. */
export function createLimiters(settings: Settings, counters: RateCounters, metrics: Metrics): Limiters {
  const block = {
    first_ms: settings.HOOKLINE_RATE_LIMIT_BLOCK,
    longest_ms: settings.HOOKLINE_RATE_LIMIT_LONGEST_BLOCK,
  };
  const refused = (policy: string) => metrics.rateLimited.inc({ policy });
  return {
    token: new RateLimiter('token', settings.HOOKLINE_RATE_LIMIT_TOKEN, counters, block, refused),
    account: new RateLimiter('account', settings.HOOKLINE_RATE_LIMIT_ACCOUNT, counters, block, refused),
    address: new RateLimiter('address', settings.HOOKLINE_RATE_LIMIT_ADDRESS, counters, block, refused),
    login: new RateLimiter('login', settings.HOOKLINE_RATE_LIMIT_LOGIN, counters, block, refused),
  };
}
