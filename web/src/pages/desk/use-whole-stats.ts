import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.js';

/** How often the counts of the installation are asked for again, milliseconds: counting is not free. */
const STATS_MS = 10_000;

/** Counts of what waits, is attempted and responds, over all accounts. */
export function useWholeStats() {
  return useQuery({
    queryKey: ['whole stats'],
    queryFn: () => api.get('/v18.0/installation/stats'),
    refetchInterval: STATS_MS,
    placeholderData: (before) => before,
  });
}
