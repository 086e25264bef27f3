import { useSyncExternalStore } from 'react';
import { lastRateLimits, subscribeToRateLimits } from '../../../api/rate-limits.js';
import { Card } from '../../../shell/page.js';
import { useHolderFor, useSession } from '../../../shell/use-session.js';
import { formatCount } from '../../../ui/count.js';
import { useRole } from '../../../ui/link.js';
import { Failed, Loading } from '../../../ui/states.js';
import { Time, useNow } from '../../../ui/time.js';

/** Remainder of the request limits of the person who is signed in, when they act for an account. */
export function RequestsLeft({ account }: { account: string }) {
  const token = useSession(useRole())?.token ?? '';
  const holder = useHolderFor(account, true);
  const limits = useSyncExternalStore(subscribeToRateLimits, () => lastRateLimits(token, account));
  const now = useNow(true);
  return (
    <Card title="Your requests">
      {limits ? (
        <dl className="facts">
          {limits.map(({ name, quota, windowSeconds, left, resetsAt }) => (
            <div key={name} className="contents">
              <dt>{WINDOWS[windowSeconds] ?? `In ${windowSeconds} seconds`}</dt>
              <dd className="number">
                {formatCount(resetsAt > now ? left : quota)} of {formatCount(quota)} left
                {resetsAt > now && left < quota && (
                  <span className="muted">
                    , all again <Time at={new Date(resetsAt).toISOString()} show="relative" />
                  </span>
                )}
              </dd>
            </div>
          ))}
        </dl>
      ) : holder.error ? (
        <Failed error={holder.error} />
      ) : holder.data ? (
        <p>This server does not limit them.</p>
      ) : (
        <Loading lines={2} />
      )}
    </Card>
  );
}

const WINDOWS: Record<number, string> = { 60: 'This minute', 3600: 'This hour', 86400: 'Today' };
