import type { Fields } from './collection.js';

/** How a document differs that somebody has altered. */
export const NOT_WRITTEN = 'is not what was written';

/** A document as it was read, in which each field has the type that its collection declares. */
export interface Declared<D> {
  /**
   * In the place of what is of another type stands nothing; in the place of what a document must have, and what nothing
   * may be, an empty text, list or number, or the oldest time.
   */
  document: D;
  /**
   * Difference from what was written, the end of a sentence: the first field that had another type. Absent if none had;
   * one that is missing is for the tag to tell.
   */
  wrong?: string;
}

/** Types of values, what is of them, and what stands in the place of another one. */
const SCALARS = new Map<unknown, { is: (value: unknown) => boolean; none: unknown }>([
  [String, { is: (value) => typeof value === 'string', none: '' }],
  [Number, { is: Number.isFinite, none: 0 }],
  [Boolean, { is: (value) => typeof value === 'boolean', none: false }],
  // MongoDB stores times that are too far away for a `Date`.
  [Date, { is: isTime, none: new Date(0) }],
]);

/** Reads a document as its collection declares it: whoever has MongoDB's access alone can write anything there. */
export function asDeclared<D extends object>(fields: Fields, stored: D): Declared<D> {
  const values = stored as Record<string, unknown>;
  const replaced: Record<string, unknown> = {};
  let mistyped: string | undefined;
  for (const [name, field] of Object.entries(fields)) {
    const value = values[name];
    const isThere = value !== undefined && value !== null;
    if (isThere ? isOf(field.type, value) : !('required' in field)) continue;
    if (isThere) mistyped ??= name;
    replaced[name] = name === '_id' ? String(value) : 'required' in field ? noneOf(field.type) : undefined;
  }
  return {
    document: Object.keys(replaced).length > 0 ? { ...stored, ...replaced } : stored,
    ...(mistyped !== undefined && {
      wrong: `${NOT_WRITTEN}: what stands in "${mistyped}" is of another type`,
    }),
  };
}

export function isTime(value: unknown): value is Date {
  return value instanceof Date && !Number.isNaN(value.getTime());
}

/** Whether a value has a type, as mongoose has it: of those that are not looked into, every value is. */
function isOf(type: unknown, value: unknown): boolean {
  const scalar = SCALARS.get(type);
  if (scalar) return scalar.is(value);
  if (Array.isArray(type)) return Array.isArray(value) && value.every((one) => isOf(type[0], one));
  if (!isPlain(type)) return true;
  if (!isPlain(value)) return false;
  return Object.entries(type).every(([name, inner]) => {
    const own = value[name];
    if (own === undefined || own === null || inner === false) return true;
    return isOf(
      typeof inner === 'object' && !Array.isArray(inner) ? (inner as { type: unknown }).type : inner,
      own,
    );
  });
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype;
}

function noneOf(type: unknown): unknown {
  return Array.isArray(type) ? [] : SCALARS.get(type)?.none;
}
