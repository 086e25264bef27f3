const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/**
 * Text about deliveries that wait for an endpoint for too long.
 *
 * @param ms how long one waits at most; `undefined` if the page does not say it
 */
export function parkLimitText(ms: number | undefined): string {
  if (ms === undefined) return 'One that waits for too long expires; it can be sent again then.';
  const [unit, size] = UNITS.find(([, each]) => ms % each === 0) ?? ['second', 1_000];
  const time = new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long' }).format(ms / size);
  return `One that has waited for ${time} expires; it can be sent again then.`;
}
