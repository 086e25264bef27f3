import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.js';

/** An event with its payload and its deliveries. @param live asks again, for deliveries that are open */
export function useEvent(id: string, live = false) {
  return useQuery({
    queryKey: ['event', id],
    queryFn: () => api.get('/v18.0/events/{kind_or_id}', { params: { path: { kind_or_id: id } } }),
    refetchInterval: live ? 5_000 : false,
  });
}
