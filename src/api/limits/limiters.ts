import type { Settings } from '../../config/schema.js';
import { policyName, type RateLimit } from '../../domain/access/limits/rate-limit.js';
import type { Metrics } from '../http/metrics.js';
import { RateLimiter } from './rate-limiter.js';

export type Limiters = ReturnType<typeof createLimiters>;

/** Makes the API's limiters from the settings. */
export function createLimiters(settings: Settings, metrics: Metrics) {
  const block = {
    firstMs: settings.HOOKLINE_RATE_LIMIT_BLOCK,
    longestMs: settings.HOOKLINE_RATE_LIMIT_LONGEST_BLOCK,
  };
  const refused = (policy: string) => metrics.rateLimited.inc({ policy });
  const limiter = (kind: string, limits: readonly RateLimit[]) => {
    for (const limit of limits) metrics.rateLimited.inc({ policy: policyName(kind, limit) }, 0);
    return new RateLimiter(kind, limits, block, refused);
  };
  return {
    /** Per token: everything but events. */
    token: limiter('token', settings.HOOKLINE_RATE_LIMIT_TOKEN),
    /** Per account: events. */
    account: limiter('account', settings.HOOKLINE_RATE_LIMIT_ACCOUNT),
    /** Per address: requests without a valid token, OAuth endpoints and the documentation. */
    address: limiter('address', settings.HOOKLINE_RATE_LIMIT_ADDRESS),
    /** Per login name: tries to log in. */
    login: limiter('login', settings.HOOKLINE_RATE_LIMIT_LOGIN),
  };
}
