const RELATIVE = {
  relative: new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'long' }),
  brief: new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'narrow' }),
};
const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

export type RelativeStyle = keyof typeof RELATIVE;

/**
 * The time from now, in the largest unit that fits, such as "3 minutes ago": of the past the whole units, of the future
 * the nearest number, because what is due in five days is not due in four a moment later.
 *
 * @param now milliseconds since the epoch
 */
export function relativeTime(at: string, now: number, style: RelativeStyle = 'relative'): string {
  const seconds = Math.round((Date.parse(at) - now) / 1_000);
  const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1];
  const count = seconds / size;
  return RELATIVE[style].format(count < 0 ? Math.trunc(count) : Math.round(count), unit);
}
