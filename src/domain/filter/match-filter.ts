/** A JSON value that something is compared with. */
type Scalar = string | number | boolean | null;

/**
 * Which events of its kinds an endpoint gets: a condition on the payload. A test names a value by its JSON Pointer (RFC 6901) and
 * compares it; `all`, `any` and `not` combine conditions.
 */
export type Filter =
  | { all: Filter[] }
  | { any: Filter[] }
  | { not: Filter }
  | { path: string; exists: boolean }
  | { path: string; in: Scalar[] }
  | { path: string; equals: Scalar }
  | { path: string; greater_than: string | number }
  | { path: string; at_least: string | number }
  | { path: string; less_than: string | number }
  | { path: string; at_most: string | number };

/**
 * Whether a payload meets a filter. Values of different types are never equal and never in order; texts are ordered by their UTF-16
 * code units, which for times in ISO 8601 is the order of time. Where nothing stands at a path, only `exists: false` is met.
 */
export function matchesFilter(filter: Filter, payload: unknown): boolean {
  if ('all' in filter) return filter.all.every((part) => matchesFilter(part, payload));
  if ('any' in filter) return filter.any.some((part) => matchesFilter(part, payload));
  if ('not' in filter) return !matchesFilter(filter.not, payload);
  const found = valueAt(payload, filter.path);
  if ('exists' in filter) return (found !== undefined) === filter.exists;
  if (found === undefined) return false;
  if ('in' in filter) return filter.in.some((value) => value === found);
  if ('equals' in filter) return filter.equals === found;
  if ('greater_than' in filter) return compare(found, filter.greater_than, (order) => order > 0);
  if ('at_least' in filter) return compare(found, filter.at_least, (order) => order >= 0);
  if ('less_than' in filter) return compare(found, filter.less_than, (order) => order < 0);
  return compare(found, filter.at_most, (order) => order <= 0);
}

function compare(found: unknown, limit: string | number, holds: (order: number) => boolean): boolean {
  if (typeof found !== typeof limit) return false;
  const value = found as string | number;
  return holds(value < limit ? -1 : value > limit ? 1 : 0);
}

/** What stands at a JSON Pointer; own properties only, so that nothing of the language itself is ever reached. */
export function valueAt(payload: unknown, pointer: string): unknown {
  let value = payload;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    if (Array.isArray(value) && !/^(0|[1-9]\d*)$/.test(name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
