/** Units of time, milliseconds. */
export const UNITS: Readonly<Record<'ms' | 's' | 'm' | 'h' | 'd', number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * Reads a duration such as `250ms`, `5s`, `30m`, `2h` or `7d`.
 *
 * @returns milliseconds
 * @throws RangeError naming the text and the accepted form
 */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim());
  if (!match)
    throw new RangeError(`"${text}" is not a duration; write a number and a unit, such as 5s, 30m or 2h`);
  return Math.round(Number(match[1]) * UNITS[match[2] as keyof typeof UNITS]);
}

/** Writes a duration for a person: the largest unit that divides it, or seconds with up to three digits. */
export function formatDuration(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    if (ms >= UNITS[unit] && ms % UNITS[unit] === 0) return `${ms / UNITS[unit]}${unit}`;
  }
  return ms < 1_000 ? `${Math.round(ms)}ms` : `${Number((ms / 1_000).toFixed(3))}s`;
}

/** Writes a duration of seconds to days for a person, in units: `3d 3h 35m 5s`. Parts of a second are left out. */
export function formatInUnits(ms: number): string {
  let left = ms;
  const parts = (['d', 'h', 'm', 's'] as const).flatMap((unit) => {
    const count = Math.floor(left / UNITS[unit]);
    left -= count * UNITS[unit];
    return count > 0 ? [`${count}${unit}`] : [];
  });
  return parts.join(' ') || '0s';
}
