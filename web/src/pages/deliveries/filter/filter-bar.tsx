import { useState } from 'react';
import { Field, TextField } from '../../../ui/field.js';
import { useEndpoints } from '../../endpoints/endpoint-name.js';
import { nameOfEndpoint } from '../../endpoints/names.js';
import { useKinds } from '../../kinds/use-kinds.js';
import type { DeliveryFilters } from '../filters.js';
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
  /** What is not asked for here. */
  without?: readonly 'status'[];
}) {
  const endpoints = useEndpoints();
  const kinds = useKinds();
  const set = (more: Partial<DeliveryFilters>) =>
    change(
      Object.fromEntries(
        Object.entries({ ...filters, ...more }).filter(([, value]) => value !== undefined && value !== ''),
      ),
    );
  return (
    <div className="filters">
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
      <Field label="Event kind">
        {(props) => (
          <select
            {...props}
            className="input"
            value={filters.event_kind ?? ''}
            onChange={(event) => set({ event_kind: event.target.value })}
          >
            <option value="">All</option>
            {kinds.data?.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
            <option>endpoint.test</option>
          </select>
        )}
      </Field>
      <PeriodFilter
        filters={filters}
        change={({ created_after = '', created_before = '' }) => set({ created_after, created_before })}
      />
      <KeyFilter key={filters.key ?? ''} value={filters.key ?? ''} set={(key) => set({ key })} />
    </div>
  );
}

function KeyFilter({ value, set }: { value: string; set: (key: string) => void }) {
  const [text, setText] = useState(value);
  const valid = text === '' || /^[\w.-]+:.+$/.test(text);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (valid) set(text);
      }}
    >
      <TextField
        label="Business key"
        mistake={valid || text === value ? undefined : 'As name:value'}
        placeholder="order_id:1001"
        value={text}
        set={setText}
        onBlur={() => valid && text !== value && set(text)}
      />
    </form>
  );
}
