import type { Path } from '../filter/payload-values.js';
import { toPointer } from '../json-pointer.js';

/** Keywords of JSON Schema that a payload's schema may have, by the kind of value that they have. */

/** Keywords whose value is one subschema. */
const SCHEMA_KEYWORDS: readonly string[] = [
  ...['items', 'additionalProperties', 'propertyNames', 'contains', 'not', 'if', 'then', 'else'],
];
/** Keywords whose value is a list of subschemas. */
const LIST_KEYWORDS: readonly string[] = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
/** Keywords whose value is a map of subschemas. */
const MAP_KEYWORDS: readonly string[] = ['properties', 'patternProperties', 'dependentSchemas'];

/** Hookline's own keyword: the property's value is a business key of the event, which it can be found by. */
export const KEY_KEYWORD = 'x-hookline-key';
/** Keys that one schema may mark. */
export const MAX_KEYS_PER_SCHEMA = 5;
/** Characters of a key's name. */
export const MAX_KEY_NAME_LENGTH = 64;

/**
 * Hookline's own keyword: the property's value names the person that the event is about, whose payloads can be erased.
 */
export const SUBJECT_KEYWORD = 'x-hookline-subject';

const PLAIN_KEYWORDS = [
  KEY_KEYWORD,
  SUBJECT_KEYWORD,
  ...['$schema', '$defs', '$ref', '$comment', 'title', 'description', 'default', 'examples', 'deprecated'],
  ...['readOnly', 'writeOnly', 'type', 'enum', 'const', 'required', 'dependentRequired', 'format', 'pattern'],
  ...['minProperties', 'maxProperties', 'minItems', 'maxItems', 'uniqueItems', 'minContains', 'maxContains'],
  ...['minLength', 'maxLength', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
] as const;

/** All keywords, first those that have subschemas. */
export const KEYWORDS: ReadonlySet<string> = new Set([
  ...SCHEMA_KEYWORDS,
  ...LIST_KEYWORDS,
  ...MAP_KEYWORDS,
  ...PLAIN_KEYWORDS,
]);

/** Keywords that say something to people or to other tools, and nothing about which payloads are valid. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  ...[
    '$schema',
    '$comment',
    'title',
    'description',
    'default',
    'examples',
    'deprecated',
    'readOnly',
    'writeOnly',
  ],
  ...[
    '$id',
    'contentEncoding',
    'contentMediaType',
    'contentSchema',
    'discriminator',
    'example',
    'externalDocs',
    'xml',
  ],
]);

/** Whether a keyword is passed over: an annotation, also of another tool (`x-…`), but none of Hookline's own. */
export function isAnnotation(name: string): boolean {
  return ANNOTATIONS.has(name) || (name.startsWith('x-') && !name.startsWith('x-hookline'));
}

/** Replacements for keywords of the standard that change what is valid, and are not checked here. */
export const INSTEAD: Readonly<Partial<Record<string, string>>> = {
  unevaluatedProperties: 'list all properties in one object, and use additionalProperties there',
  unevaluatedItems: 'use items behind prefixItems',
  definitions: 'use $defs, and references such as #/$defs/address',
  additionalItems: 'use prefixItems, and items for those behind them',
  dependencies: 'use dependentRequired or dependentSchemas',
  nullable: 'add "null" to the type',
  id: 'use $id',
  $anchor: 'use $defs, and references such as #/$defs/address',
  $dynamicRef: 'use $ref',
};

/** A schema that is an object; the others are `true` and `false`. */
export type Schema = Record<string, unknown>;

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The subschemas that a schema has under one of its keywords, with where they are in it, as JSON Pointers, and their
 * names or indexes.
 */
export function subschemasUnder(
  schema: Schema,
  name: string,
): [pointer: string, inner: unknown, key: string][] {
  const value = schema[name];
  if (SCHEMA_KEYWORDS.includes(name)) return [[toPointer([name]), value, name]];
  const isList = LIST_KEYWORDS.includes(name) && Array.isArray(value);
  const isMap = MAP_KEYWORDS.includes(name) && isSchema(value);
  if (!isList && !isMap) return [];
  return Object.entries(value as object).map(([key, inner]) => [toPointer([name, key]), inner, key]);
}

/** A schema in which each subschema, and then the schema itself, is replaced. */
export function mapSchema(schema: Schema, replace: (schema: Schema) => Schema): Schema {
  const inner = (value: unknown): unknown => (isSchema(value) ? mapSchema(value, replace) : value);
  const entries = Object.entries(schema).map(([name, value]) => {
    if (SCHEMA_KEYWORDS.includes(name)) return [name, inner(value)];
    if (LIST_KEYWORDS.includes(name) && Array.isArray(value)) return [name, value.map(inner)];
    const isMap = (MAP_KEYWORDS.includes(name) || name === '$defs') && isSchema(value);
    return [
      name,
      isMap ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inner(one)])) : value,
    ];
  });
  return replace(Object.fromEntries(entries));
}

/**
 * A schema without `$id`: where it is found elsewhere is no matter, because its references lead to definitions at its
 * root.
 */
export function withoutIds(schema: Schema): Schema {
  return mapSchema(schema, ({ $id: _, ...rest }) => rest);
}

/** Keywords and types, in JSON, of which a schema has one if the digits of numbers can matter to it. */
const COMPARING =
  /"(?:enum|const|uniqueItems|multipleOf|minimum|maximum|exclusiveMinimum|exclusiveMaximum|number|integer)"/;

/**
 * Whether the value of a number can matter to a schema. True for some to which it does not, such as one with a property
 * named `const`.
 */
export function comparesNumbers(schema: Schema): boolean {
  return COMPARING.test(JSON.stringify(schema));
}

/** The name of the definition that a reference leads to; `undefined` if it leads elsewhere. */
export function referencedDefinition(reference: unknown): string | undefined {
  return /^#\/\$defs\/([\w.-]{1,128})$/.exec(String(reference))?.[1];
}

/** Names of properties, each within the one before. */
export type PropertyPath = string[];

interface Marks {
  keys: PropertyPath[];
  subjects: PropertyPath[];
}

const remembered = new WeakMap<Schema, Marks>();

/** The properties that a schema marks with `true` under Hookline's keywords, below `properties` alone. */
export function marksOf(schema: Schema): Marks {
  let marks = remembered.get(schema);
  if (!marks) {
    marks = { keys: markedIn(schema, KEY_KEYWORD), subjects: markedIn(schema, SUBJECT_KEYWORD) };
    remembered.set(schema, marks);
  }
  return marks;
}

function markedIn(schema: unknown, keyword: string, path: PropertyPath = []): PropertyPath[] {
  const properties = isSchema(schema) ? schema['properties'] : undefined;
  if (!isSchema(properties)) return [];
  return Object.entries(properties).flatMap(([part, inner]) => {
    const here = [...path, part];
    const isMarked = isSchema(inner) && inner[keyword] === true;
    return [...(isMarked ? [here] : []), ...markedIn(inner, keyword, here)];
  });
}

/**
 * How often a schema has a keyword, wherever that is: also as the name of a property, which is rare enough to be
 * refused.
 */
export function countMarks(value: unknown, keyword: string): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce(
    (sum, [name, inner]) => sum + (name === keyword ? 1 : 0) + countMarks(inner, keyword),
    0,
  );
}

/** Where a request has a schema. */
export const BASE = '/schema';

/** Where a request describes a property in a schema, as a JSON Pointer. */
export function pointerTo(path: PropertyPath): string {
  return BASE + path.map((part) => `/properties${toPointer([part])}`).join('');
}

/** Where the property is in a payload. */
export function placeOf(path: PropertyPath): Path {
  return { pointer: toPointer(path), names: path };
}
