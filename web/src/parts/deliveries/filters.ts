import { DELIVERY_STATUSES, type DeliveryStatus } from '../../api/types.js';

/** Filters of a list of deliveries: part of the page's address, so that a link shows the same list. */
export interface DeliveryFilters {
  status?: DeliveryStatus[];
  event_kind?: string;
  endpoint_id?: string;
  event_id?: string;
  /** A business key, as name:value. */
  key?: string;
  created_after?: string;
  created_before?: string;
}

const TEXTS = ['event_kind', 'endpoint_id', 'event_id', 'key', 'created_after', 'created_before'] as const;

/** The filters of an address; what is not one is left out. */
export function readDeliveryFilters(search: Record<string, unknown>): DeliveryFilters {
  const statuses = [search['status']].flat().filter(isStatus);
  const texts = TEXTS.map((name) => [name, search[name]] as const).filter(
    ([, value]) => value !== undefined && value !== '',
  );
  return {
    ...(statuses.length > 0 && { status: statuses }),
    ...Object.fromEntries(texts.map(([name, value]) => [name, String(value)])),
  };
}

function isStatus(value: unknown): value is DeliveryStatus {
  return (DELIVERY_STATUSES as readonly unknown[]).includes(value);
}
