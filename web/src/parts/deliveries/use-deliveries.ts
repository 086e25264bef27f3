import { api } from '../../api/client.js';
import type { ListedDelivery } from '../../api/types.js';
import { PAGE_SIZE, useList } from '../../ui/list.js';
import { EXTRAS } from './delivery-table.js';
import type { DeliveryFilters } from './filters.js';

/** A list of deliveries, page by page. */
export function useDeliveries(filters: DeliveryFilters, limit = PAGE_SIZE) {
  return useList<ListedDelivery>(
    ['deliveries', filters, limit],
    (after) =>
      api.get('/v18.0/deliveries', { params: { query: { ...filters, include: EXTRAS, limit, after } } }),
    true,
  );
}
