import { z } from 'zod';

/**
 * A list or an object that has more entries than its schema allows: where it is, and what is wrong as the end of a
 * sentence.
 */
interface Excess {
  path: PropertyKey[];
  detail: string;
}

/** Unknown members of an object that are looked at: a few more than are told of. */
const MAX_UNKNOWN = 50;

/**
 * Finds a list or an object that is larger than its schema allows, before anything in it is checked: the validator
 * checks every entry first and counts them afterwards, at a cost of microseconds each. It walks only as far as the
 * schema has lists and objects.
 *
 * A list says its bound by `max`, a record by {@link recordOf}; `test/unit/http/bounds.test.ts` holds every body to
 * have one.
 *
 * @returns `undefined` if there is none
 */
export function findExcess(
  schema: z.core.$ZodType,
  value: unknown,
  path: PropertyKey[] = [],
): Excess | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const def = schema._zod.def as unknown as ZodDefinition;
  switch (def.type) {
    case 'array':
      return Array.isArray(value) ? excessOfEntries(schema, def.element, value, path) : undefined;
    case 'record':
      return excessOfEntries(schema, def.valueType, value, path);
    case 'object':
      return excessOfObject(def, value as Members, path);
    case 'union':
      return firstExcess(def.options, (option) => findExcess(option, value, path));
    case 'pipe':
      return findExcess(def.in, value, path);
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
      return findExcess(def.innerType, value, path);
    default:
      return undefined;
  }
}

type Members = Record<string, unknown>;

/** The parts of zod's definitions that are read here. */
type ZodDefinition =
  | { type: 'array'; element: z.core.$ZodType }
  | { type: 'record'; valueType: z.core.$ZodType }
  | { type: 'object'; shape: Record<string, z.core.$ZodType> }
  | { type: 'union'; options: readonly z.core.$ZodType[] }
  | { type: 'pipe'; in: z.core.$ZodType }
  | {
      type: 'optional' | 'nullable' | 'default' | 'prefault' | 'nonoptional' | 'readonly';
      innerType: z.core.$ZodType;
    }
  | { type: 'other' };

interface CheckDefinition {
  check: string;
  maximum?: number;
}

/** The most entries of a list or a record that a schema allows; `undefined` if it does not say. */
function maxEntries(schema: z.core.$ZodType): number | undefined {
  const definitions = (schema._zod.def.checks ?? []).map(({ _zod }) => _zod.def as CheckDefinition);
  const { maximum } = definitions.find(({ check }) => check === 'max_length') ?? {};
  return maximum ?? ((schema as z.ZodType).meta()?.['maxProperties'] as number | undefined);
}

function excessOfEntries(
  schema: z.core.$ZodType,
  inner: z.core.$ZodType,
  value: object,
  path: PropertyKey[],
): Excess | undefined {
  const most = maxEntries(schema);
  if (most !== undefined && hasMoreThan(value, most))
    return { path, detail: `must have at most ${most} ${most === 1 ? 'entry' : 'entries'}` };
  const names: Iterable<string | number> = Array.isArray(value) ? value.keys() : Object.keys(value);
  return firstExcess(names, (name) => findExcess(inner, (value as Members)[name], [...path, name]));
}

function excessOfObject(
  { shape }: Extract<ZodDefinition, { type: 'object' }>,
  members: Members,
  path: PropertyKey[],
): Excess | undefined {
  const names = Object.keys(shape);
  if (hasMoreThan(members, names.length + MAX_UNKNOWN))
    return { path, detail: `has too many members; known here: ${names.join(', ')}` };
  return firstExcess(names, (name) => {
    const inner = shape[name];
    return inner && Object.hasOwn(members, name)
      ? findExcess(inner, members[name], [...path, name])
      : undefined;
  });
}

function hasMoreThan(members: object, most: number): boolean {
  // For a list, V8 would create the text of every index before the first step.
  if (Array.isArray(members)) return members.length > most;
  let count = 0;
  for (const _ in members) {
    count += 1;
    if (count > most) return true;
  }
  return false;
}

function firstExcess<T>(all: Iterable<T>, find: (one: T) => Excess | undefined): Excess | undefined {
  for (const one of all) {
    const found = find(one);
    if (found) return found;
  }
  return undefined;
}

/** An object of which the caller chooses the names. @param most entries that it may have */
export function recordOf<Value extends z.ZodType>(name: z.ZodString, value: Value, most: number) {
  return z
    .record(name, value)
    .refine((entries) => Object.keys(entries).length <= most, `must have at most ${most} entries`)
    .meta({ maxProperties: most });
}
