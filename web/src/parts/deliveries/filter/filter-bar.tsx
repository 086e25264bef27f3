import { Field } from '../../../ui/field.js';
import { useEndpoints } from '../../endpoints/endpoint-name.js';
import { nameOfEndpoint } from '../../endpoints/names.js';
import type { DeliveryFilters } from '../filters.js';
import { Filters } from './filters.js';
import { KeyFilter } from './key-filter.js';
import { KindFilter } from './kind-filter.js';
import { PeriodFilter } from './period-filter.js';
import { StatusMenu } from './status-menu.js';

/** The filters above a list. Each change is a new address. */
export function FilterBar({
  filters,
  change,
  without = [],
}: {
  filters: DeliveryFilters;
  change: (filters: DeliveryFilters) => void;
  /** Filters that are left out here. */
  without?: readonly 'status'[];
}) {
  const endpoints = useEndpoints();
  const set = (more: Partial<DeliveryFilters>) =>
    change(
      Object.fromEntries(
        Object.entries({ ...filters, ...more }).filter(([, value]) => value !== undefined && value !== ''),
      ),
    );
  return (
    <Filters count={countOf(filters, without)}>
      {!without.includes('status') && (
        <StatusMenu
          statuses={filters.status ?? []}
          change={(status) => set({ status: status.length > 0 ? status : undefined })}
        />
      )}
      <Field label="Endpoint">
        {(props) => (
          <select
            {...props}
            className="input"
            value={filters.endpoint_id ?? ''}
            onChange={(event) => set({ endpoint_id: event.target.value })}
          >
            <option value="">All</option>
            {endpoints.data?.map((endpoint) => (
              <option key={endpoint.id} value={endpoint.id}>
                {nameOfEndpoint(endpoint)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <KindFilter kind={filters.event_kind} change={(event_kind) => set({ event_kind })} />
      <PeriodFilter
        filters={filters}
        change={({ created_after = '', created_before = '' }) => set({ created_after, created_before })}
      />
      <KeyFilter key={filters.key ?? ''} value={filters.key ?? ''} set={(key) => set({ key })} />
    </Filters>
  );
}

/** How many are set. A period is one. */
function countOf(
  { created_after, created_before, event_id: _, ...others }: DeliveryFilters,
  without: readonly string[],
): number {
  const names = Object.keys(others).filter((name) => !without.includes(name));
  return names.length + (created_after || created_before ? 1 : 0);
}
