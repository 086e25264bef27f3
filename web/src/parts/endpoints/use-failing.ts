import { useQuery } from '@tanstack/react-query';
import { api, readAll } from '../../api/client.js';
import { LIVE_MS } from '../../ui/list.js';

/** The endpoints that are failing, each with its incident, which no other list has. */
export function useFailing() {
  return useQuery({
    queryKey: ['endpoints', 'failing'],
    queryFn: () => readAll(api.list('/v18.0/endpoints', { query: { limit: 100, health: 'failing' } })),
    refetchInterval: LIVE_MS,
  });
}
