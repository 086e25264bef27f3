import { PERIODS, type Period } from './use-stats.js';

/** Chooses the period that statistics are of. */
export function PeriodSelect({ value, set }: { value: Period; set: (value: Period) => void }) {
  return (
    <select
      className="input"
      aria-label="Period"
      value={value}
      onChange={(event) => set(event.target.value as Period)}
    >
      {Object.entries(PERIODS).map(([each, { name }]) => (
        <option key={each} value={each}>
          {name}
        </option>
      ))}
    </select>
  );
}
