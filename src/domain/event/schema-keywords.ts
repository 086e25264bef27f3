import type { Path } from '../filter/payload-values.js';

/** Keywords of JSON Schema that a payload's schema may have, by the kind of value that they have. */

/** Keywords whose value is one subschema. */
export const SCHEMA_KEYWORDS = [
  ...['items', 'additionalProperties', 'propertyNames', 'contains', 'not', 'if', 'then', 'else'],
] as const;
/** Keywords whose value is a list of subschemas. */
export const LIST_KEYWORDS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'] as const;
/** Keywords whose value is a map of subschemas. */
export const MAP_KEYWORDS = ['properties', 'patternProperties', 'dependentSchemas'] as const;

/** Hookline's own keyword: the property's value is a business key of the event, which it can be found by. */
export const KEY_KEYWORD = 'x-hookline-key';

/** Hookline's own keyword: the property's value names the person that the event is about, whose payloads can be erased. */
export const SUBJECT_KEYWORD = 'x-hookline-subject';

const PLAIN_KEYWORDS = [
  KEY_KEYWORD,
  SUBJECT_KEYWORD,
  ...['$schema', '$defs', '$ref', '$comment', 'title', 'description', 'default', 'examples', 'deprecated'],
  ...['readOnly', 'writeOnly', 'type', 'enum', 'const', 'required', 'dependentRequired', 'format', 'pattern'],
  ...['minProperties', 'maxProperties', 'minItems', 'maxItems', 'uniqueItems', 'minContains', 'maxContains'],
  ...['minLength', 'maxLength', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
] as const;

export const KEYWORDS: ReadonlySet<string> = new Set([
  ...SCHEMA_KEYWORDS,
  ...LIST_KEYWORDS,
  ...MAP_KEYWORDS,
  ...PLAIN_KEYWORDS,
]);

/** A schema that is an object; the others are `true` and `false`. */
export type Schema = Record<string, unknown>;

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a schema has, somewhere, if the digits of numbers can matter to it: keywords and types, in JSON. */
const COMPARING =
  /"(?:enum|const|uniqueItems|multipleOf|minimum|maximum|exclusiveMinimum|exclusiveMaximum|number|integer)"/;

/** Whether the value of a number can matter to a schema. True for some to which it does not, such as one with a property named `const`. */
export function comparesNumbers(schema: Schema): boolean {
  return COMPARING.test(JSON.stringify(schema));
}

/** A part of a JSON Pointer (RFC 6901). */
export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The name of the definition that a reference leads to; `undefined` if it leads elsewhere. */
export function referencedDefinition(reference: unknown): string | undefined {
  return /^#\/\$defs\/([\w.-]{1,128})$/.exec(String(reference))?.[1];
}

/** Names of properties, each within the one before. */
export type PropertyPath = string[];

/** The properties that a schema marks with `true` under a keyword of Hookline's, below `properties` alone. */
export function markedProperties(schema: unknown, keyword: string, path: PropertyPath = []): PropertyPath[] {
  const properties = isSchema(schema) ? schema['properties'] : undefined;
  if (!isSchema(properties)) return [];
  return Object.entries(properties).flatMap(([part, inner]) => {
    const here = [...path, part];
    const isMarked = isSchema(inner) && inner[keyword] === true;
    return [...(isMarked ? [here] : []), ...markedProperties(inner, keyword, here)];
  });
}

/** How often a schema has a keyword, wherever that is: also as the name of a property, which is rare enough to be refused. */
export function countMarks(value: unknown, keyword: string): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce(
    (sum, [name, inner]) => sum + (name === keyword ? 1 : 0) + countMarks(inner, keyword),
    0,
  );
}

/** Where a property is described in a schema, as a JSON Pointer. */
export function pointerTo(path: PropertyPath): string {
  return path.map((part) => `/properties/${escapePointer(part)}`).join('');
}

/** Where the property is in a payload. */
export function placeOf(path: PropertyPath): Path {
  return { pointer: path.map((part) => `/${escapePointer(part)}`).join(''), names: path };
}
