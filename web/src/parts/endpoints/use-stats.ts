import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.js';
import type { Stats } from '../../api/types.js';
import { formatCount, formatTenths } from '../../ui/count.js';

/** A period of statistics that ends now: how long it is, and how it is divided. */
export const PERIODS = {
  '24h': { hours: 24, interval: '1h', name: 'Last 24 hours' },
  '7d': { hours: 7 * 24, interval: '1d', name: 'Last 7 days' },
} as const;
export type Period = keyof typeof PERIODS;

const HOUR_MS = 3_600_000;
/** How often statistics are asked for again, milliseconds: counting is not free. */
const STATS_MS = 10_000;

/** Counts of open and closed deliveries: of the account, or of one endpoint. */
export function useStats(period: Period, endpointId?: string) {
  const { hours, interval } = PERIODS[period];
  return useQuery({
    queryKey: ['stats', period, endpointId],
    queryFn: () =>
      api.get('/v18.0/stats', {
        params: {
          query: {
            closed_after: new Date(Date.now() - hours * HOUR_MS).toISOString(),
            interval,
            endpoint_id: endpointId,
          },
        },
      }),
    refetchInterval: STATS_MS,
    placeholderData: (before) => before,
  });
}

/**
 * Share of deliveries that were delivered, 0 to 1, among those that ended by themselves or are behind a failed attempt;
 * absent if there are none. An endpoint that is failing now therefore has less than 100 %.
 */
export function successRate(
  { delivered, exhausted, expired }: Stats['closed']['by_status'],
  { retrying }: Stats['open']['by_status'],
): number | undefined {
  const tried = delivered + exhausted + expired + retrying;
  return tried === 0 ? undefined : delivered / tried;
}

/** A part as people read it: `100 %` only if it is all of it. */
export function formatRate(rate: number): string {
  const percent = rate * 100;
  if (percent < 10 || percent === 100) return `${formatCount(Math.round(percent))} %`;
  return `${formatTenths(Math.min(percent, 99.9))} %`;
}
