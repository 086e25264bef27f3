/** The value below which `p` percent of the values are. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * p) / 100))] ?? Number.NaN;
}

/** The value in the middle. */
export function median(values: readonly number[]): number {
  return percentile(values, 50);
}
