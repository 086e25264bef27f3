import { useQuery } from '@tanstack/react-query';
import { api, readAll } from '../../api/client.js';

/** Every event kind of the account. */
export function useKinds() {
  return useQuery({
    queryKey: ['kinds'],
    queryFn: () => readAll(api.list('/v18.0/event_kinds', { query: { limit: 100 } })),
    staleTime: 60_000,
  });
}
