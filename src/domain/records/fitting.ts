/**
 * Room in a row for runs before the last one, and for a timeline. Bytes of JSON. A document of MongoDB has at most 16
 * MiB, with one run of at most 2 MiB (Temporal's limit of a payload), and sealed texts are a third longer; resending a
 * delivery again and again must not stop its row.
 */
export const MAX_EARLIER_RUNS_BYTES = 3 * 1024 * 1024;
export const MAX_TIMELINE_BYTES = 4 * 1024 * 1024;

/** The first of some items, as many as fit. @param maxBytes of their JSON */
export function firstThatFit<T>(items: readonly T[], maxBytes: number): readonly T[] {
  let bytes = 0;
  for (const [index, item] of items.entries()) {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    if (bytes > maxBytes) return items.slice(0, index);
  }
  return items;
}
