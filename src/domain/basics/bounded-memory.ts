/** Keeps what is remembered within a limit: what was put in first makes room. */
export function dropOldest<K>(remembered: Map<K, unknown> | Set<K>, limit: number): void {
  for (const oldest of remembered.keys()) {
    if (remembered.size <= limit) return;
    remembered.delete(oldest);
  }
}

/**
 * Options of an LRU cache with room for so many entries, taken as they come: the option `max` reserves half a megabyte
 * for 10,000.
 */
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

/** A map of what is being made, or was, by key. */
interface Made<K, T> {
  get(key: K): Promise<T> | undefined;
  set(key: K, made: Promise<T>): unknown;
  delete(key: K): unknown;
}

/** Value that is made of a key, once for all callers. A failure is not remembered: the next caller tries again. */
export function madeOnce<K, T>(made: Made<K, T>, key: K, make: () => Promise<T>): Promise<T> {
  const known = made.get(key);
  if (known !== undefined) return known;
  const making = make();
  made.set(key, making);
  making.catch(() => {
    if (made.get(key) === making) made.delete(key);
  });
  return making;
}
