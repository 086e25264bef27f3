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

/** Items in arrays of a size, the last one shorter. */
export async function* together<T>(items: AsyncIterable<T>, size: number): AsyncIterable<T[]> {
  let some: T[] = [];
  for await (const item of items) {
    some.push(item);
    if (some.length < size) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}

/** The same of items that are there already. */
export function* inParts<T>(items: readonly T[], size: number): Iterable<T[]> {
  for (let first = 0; first < items.length; first += size) yield items.slice(first, first + size);
}
