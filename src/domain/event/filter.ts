import { z } from 'zod';

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

export const MAX_FILTER_DEPTH = 5;
export const MAX_FILTER_CONDITIONS = 50;
const MAX_FILTER_VALUES = 100;
const MAX_TEXT = 256;

const scalar = z.union([z.string().max(MAX_TEXT), z.number(), z.boolean(), z.null()]);
const ordered = z.union([z.string().max(MAX_TEXT), z.number()]);
const path = z
  .string()
  .max(MAX_TEXT)
  .regex(/^(\/([^~]|~[01])*)?$/, 'must be a JSON Pointer, such as /total or /items/0/name');

const condition: z.ZodType<Filter> = z.lazy(() =>
  z.union(
    [
      z.strictObject({ all: z.array(condition).min(1) }),
      z.strictObject({ any: z.array(condition).min(1) }),
      z.strictObject({ not: condition }),
      z.strictObject({ path, exists: z.boolean() }),
      z.strictObject({ path, in: z.array(scalar).min(1).max(MAX_FILTER_VALUES) }),
      z.strictObject({ path, equals: scalar }),
      z.strictObject({ path, greater_than: ordered }),
      z.strictObject({ path, at_least: ordered }),
      z.strictObject({ path, less_than: ordered }),
      z.strictObject({ path, at_most: ordered }),
    ],
    { error: 'must be a condition, such as {"path": "/total", "at_least": 100}; see docs/endpoints.md' },
  ),
);

/** Shape and bounds of a filter. The bounds are checked first, so that nothing deep is walked further than they reach. */
export const filterSchema = z
  .unknown()
  .refine((value) => depthOf(value) <= MAX_FILTER_DEPTH, `must be nested at most ${MAX_FILTER_DEPTH} deep`)
  .pipe(condition)
  .refine(
    (filter) => countConditions(filter) <= MAX_FILTER_CONDITIONS,
    `must have at most ${MAX_FILTER_CONDITIONS} conditions`,
  );

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

function depthOf(value: unknown, depth = 1): number {
  if (typeof value !== 'object' || value === null || depth > MAX_FILTER_DEPTH) return depth;
  const parts = value as { all?: unknown; any?: unknown; not?: unknown };
  const inner = [
    parts.not,
    ...(Array.isArray(parts.all) ? parts.all : []),
    ...(Array.isArray(parts.any) ? parts.any : []),
  ];
  return Math.max(
    depth,
    ...inner.filter((part) => part !== undefined).map((part) => depthOf(part, depth + 1)),
  );
}

function countConditions(filter: Filter): number {
  if ('not' in filter) return 1 + countConditions(filter.not);
  const parts = 'all' in filter ? filter.all : 'any' in filter ? filter.any : [];
  return 1 + parts.reduce((sum, part) => sum + countConditions(part), 0);
}
