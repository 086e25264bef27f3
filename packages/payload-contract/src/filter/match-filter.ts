import { ExactValue, PayloadValues, pathOf } from './payload-values.js';

/** A JSON value that something is compared with. */
type Scalar = string | number | boolean | null;

/**
 * Which events of its kinds an endpoint gets: a condition on the payload. A test names a value by its JSON Pointer (RFC
 * 6901) and compares it; `all`, `any` and `not` combine conditions.
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

/** Whether an event's payload meets a filter. */
type Condition = (values: PayloadValues) => boolean;

/**
 * Whether a payload meets a filter. Values of different types are never equal and never in order; texts are ordered by
 * their UTF-16 code units, which for times in ISO 8601 is the order of time; numbers by every digit that was written,
 * if the payload is given with those. Where nothing stands at a path, only `exists: false` is met.
 *
 * @param payload parsed, or what has been looked up in it for other filters
 * @throws TypeError if the filter is none
 */
export function matchesFilter(filter: Filter, payload: unknown): boolean {
  return compiled(filter)(PayloadValues.of(payload));
}

const conditions = new WeakMap<Filter, Condition>();

/** A filter is compiled once for as long as it is in use: thousands may be compared with each event. */
function compiled(filter: Filter): Condition {
  let condition = conditions.get(filter);
  if (!condition) {
    condition = compile(filter);
    conditions.set(filter, condition);
  }
  return condition;
}

function compile(filter: Filter): Condition {
  if ('all' in filter) {
    const parts = filter.all.map(compile);
    return (values) => parts.every((part) => part(values));
  }
  if ('any' in filter) {
    const parts = filter.any.map(compile);
    return (values) => parts.some((part) => part(values));
  }
  if ('not' in filter) {
    const part = compile(filter.not);
    return (values) => !part(values);
  }
  const path = pathOf(filter.path);
  const test = compileTest(filter);
  return (values) => test(values.at(path));
}

/** @returns whether what stands at the path, `undefined` for nothing, meets a test */
function compileTest(filter: Extract<Filter, { path: string }>): (found: unknown) => boolean {
  if ('exists' in filter) return (found) => (found !== undefined) === filter.exists;
  if ('in' in filter) {
    const values = new Set<unknown>(filter.in);
    return (found) => values.has(found);
  }
  if ('equals' in filter) return (found) => found === filter.equals;
  if ('greater_than' in filter) return ordered(filter.greater_than, (order) => order > 0);
  if ('at_least' in filter) return ordered(filter.at_least, (order) => order >= 0);
  if ('less_than' in filter) return ordered(filter.less_than, (order) => order < 0);
  return ordered(filter.at_most, (order) => order <= 0);
}

function ordered(limit: string | number, holds: (order: number) => boolean): (found: unknown) => boolean {
  return (found) => {
    if (found instanceof ExactValue) return typeof limit === 'number' && holds(found.compareTo(limit));
    if (typeof found !== typeof limit) return false;
    const value = found as string | number;
    return holds(value < limit ? -1 : value > limit ? 1 : 0);
  };
}
