/** Whether a JSON value is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object without the members that are `undefined`. */
export function present<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

/** An object without some of its members. */
export function omit<T extends object, K extends keyof T>(object: T, ...names: readonly K[]): Omit<T, K> {
  const omitted = new Set<PropertyKey>(names);
  return Object.fromEntries(Object.entries(object).filter(([name]) => !omitted.has(name))) as Omit<T, K>;
}

/** Values by a key, in their order. */
export function groupedBy<T, K>(all: Iterable<T>, keyOf: (one: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const one of all) {
    const key = keyOf(one);
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return groups;
}

/** Values of two lists by their places. @throws RangeError if one list is longer */
export function zip<A, B>(some: readonly A[], others: readonly B[]): [A, B][] {
  if (some.length !== others.length) throw new RangeError('lists of different lengths have no pairs');
  return some.map((one, at) => [one, others[at] as B]);
}

/** Deeper objects of a patch are taken as they are: nothing that is patched here is as deep. */
const MAX_DEPTH = 16;

/**
 * Applies a JSON Merge Patch (RFC 7396) to a JSON value: members that it does not name stay, `null` removes one,
 * objects are merged, and everything else, arrays included, is replaced.
 */
export function mergePatch(target: unknown, patch: unknown, depth = 0): unknown {
  if (!isObject(patch) || depth > MAX_DEPTH) return patch;
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value, depth + 1));
  }
  return Object.fromEntries(merged);
}
