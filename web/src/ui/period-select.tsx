/** Chooses one of the periods that a chart can show. */
export function PeriodSelect<Name extends string>({
  periods,
  value,
  set,
}: {
  periods: Readonly<Record<Name, { name: string }>>;
  value: Name;
  set: (value: Name) => void;
}) {
  return (
    <select
      className="input"
      aria-label="Period"
      value={value}
      onChange={(event) => set(event.target.value as Name)}
    >
      {Object.entries<{ name: string }>(periods).map(([each, { name }]) => (
        <option key={each} value={each}>
          {name}
        </option>
      ))}
    </select>
  );
}
