import { z } from 'zod';
import type { Filter } from './match-filter.js';

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
