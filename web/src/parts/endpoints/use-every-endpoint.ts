import { api } from '../../api/client.js';
import type { InstallationEndpoint } from '../../api/types.js';
import { PAGE_SIZE, useList } from '../../ui/list.js';

/** Endpoints of all accounts. @param health only those that are failing */
export function useEveryEndpoint(health?: 'failing') {
  return useList<InstallationEndpoint>(
    ['every endpoint', health],
    (after) =>
      api.get('/v18.0/installation/endpoints', { params: { query: { health, limit: PAGE_SIZE, after } } }),
    true,
  );
}
