/** Keeps what is remembered within a limit: what was put in first makes room. */
export function dropOldest<K>(remembered: Map<K, unknown> | Set<K>, limit: number): void {
  for (const oldest of remembered.keys()) {
    if (remembered.size <= limit) return;
    remembered.delete(oldest);
  }
}

/** Options of an LRU cache with room for so many entries, taken as they come: the option `max` reserves half a megabyte for 10,000. */
export function roomFor(entries: number) {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
