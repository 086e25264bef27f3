import { useState } from 'react';
import { DELIVERY_STATUSES } from '../../api/types.js';
import { deliveryWord } from '../../ui/badge.js';
import { Field, TextField } from '../../ui/field.js';
import { useEndpoints } from '../endpoints/endpoint-name.js';
import { nameOfEndpoint } from '../endpoints/names.js';
import { useKinds } from '../kinds/use-kinds.js';
import type { DeliveryFilters } from './filters.js';

/** What a list can be limited to, in hours back from now. */
const PERIODS = [
  ['', 'Any time'],
  ['1', 'Last hour'],
  ['24', 'Last 24 hours'],
  ['168', 'Last 7 days'],
] as const;
const HOUR_MS = 3_600_000;

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
  const statuses = filters.status ?? [];
  return (
    <div className="stack tight">
      {!without.includes('status') && (
        <fieldset>
          <legend className="visually-hidden">Status</legend>
          <div className="choices">
            {DELIVERY_STATUSES.map((status) => (
              <label key={status} className="choice">
                <input
                  type="checkbox"
                  checked={statuses.includes(status)}
                  onChange={(event) => {
                    const rest = statuses.filter((other) => other !== status);
                    const next = event.target.checked ? [...rest, status] : rest;
                    set({ status: next.length > 0 ? next : undefined });
                  }}
                />
                {deliveryWord(status)}
              </label>
            ))}
          </div>
        </fieldset>
      )}
      <div className="filters">
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
        <Field label="Accepted">
          {(props) => (
            <select
              {...props}
              className="input"
              value={periodOf(filters)}
              onChange={({ target: { value } }) => {
                const from = value === '' ? '' : new Date(Date.now() - Number(value) * HOUR_MS).toISOString();
                set({ created_after: from, created_before: '' });
              }}
            >
              {PERIODS.map(([hours, name]) => (
                <option key={hours} value={hours}>
                  {name}
                </option>
              ))}
              {periodOf(filters) === 'other' && <option value="other">Period of the link</option>}
            </select>
          )}
        </Field>
        <KeyFilter key={filters.key ?? ''} value={filters.key ?? ''} set={(key) => set({ key })} />
      </div>
    </div>
  );
}

/** A period that is open to now is named by its length; others come from links. */
function periodOf({ created_after, created_before }: DeliveryFilters): string {
  if (created_after === undefined && created_before === undefined) return '';
  const hours = (Date.now() - Date.parse(created_after ?? '')) / HOUR_MS;
  const known = PERIODS.find(([name]) => name !== '' && Math.abs(hours - Number(name)) < Number(name) / 4);
  return created_before === undefined && known ? known[0] : 'other';
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
