import { Field } from '../../../ui/field.js';
import type { DeliveryFilters } from '../filters.js';

type Period = Pick<DeliveryFilters, 'created_after' | 'created_before'>;

/** Periods to which a list can be limited, in hours back from now. */
const PERIODS = [
  ['', 'Any time'],
  ['1', 'Last hour'],
  ['24', 'Last 24 hours'],
  ['168', 'Last 7 days'],
] as const;
const HOUR_MS = 3_600_000;

/** Chooses when events were accepted. @param change receives an empty period for any time */
export function PeriodFilter({
  filters,
  change,
}: {
  filters: DeliveryFilters;
  change: (period: Period) => void;
}) {
  const chosen = periodOf(filters);
  return (
    <Field label="Accepted">
      {(props) => (
        <select
          {...props}
          className="input"
          value={chosen}
          onChange={({ target: { value } }) =>
            change(
              value === ''
                ? {}
                : { created_after: new Date(Date.now() - Number(value) * HOUR_MS).toISOString() },
            )
          }
        >
          {PERIODS.map(([hours, name]) => (
            <option key={hours} value={hours}>
              {name}
            </option>
          ))}
          {chosen === 'other' && <option value="other">Period of the link</option>}
        </select>
      )}
    </Field>
  );
}

/** A period that is open to now is named by its length; others come from links. */
function periodOf({ created_after, created_before }: Period): string {
  if (created_after === undefined && created_before === undefined) return '';
  const hours = (Date.now() - Date.parse(created_after ?? '')) / HOUR_MS;
  const known = PERIODS.find(([name]) => name !== '' && Math.abs(hours - Number(name)) < Number(name) / 4);
  return created_before === undefined && known ? known[0] : 'other';
}
