/** A JSON Schema, as far as payloads use it. */
export type JsonSchema = { [keyword: string]: unknown };

/** A reference deeper than this goes in a circle. */
const MAX_DEPTH = 16;

const FORMATS: Record<string, () => string> = {
  'date-time': () => new Date().toISOString(),
  date: () => new Date().toISOString().slice(0, 10),
  time: () => new Date().toISOString().slice(11),
  email: () => 'ada@example.com',
  'idn-email': () => 'ada@example.com',
  uri: () => 'https://example.com/',
  uuid: () => crypto.randomUUID(),
  ipv4: () => '192.0.2.1',
  ipv6: () => '2001:db8::1',
  hostname: () => 'example.com',
};

/**
 * A payload for a schema: its example if it has one, otherwise its required properties, each with the simplest value.
 * It is a beginning: a schema can ask for more than this understands, such as a pattern.
 */
export function exampleOf(schema: JsonSchema, root: JsonSchema = schema, depth = 0): unknown {
  if (depth > MAX_DEPTH) return null;
  const { examples, example, default: fallback, enum: values, const: only } = schema;
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  for (const given of [example, fallback, only, Array.isArray(values) ? values[0] : undefined])
    if (given !== undefined) return given;
  const part = schemaBehind(schema, root);
  if (part !== schema) return exampleOf(part, root, depth + 1);
  switch (typeOf(schema)) {
    case 'object': {
      const required = Array.isArray(schema['required']) ? (schema['required'] as string[]) : [];
      const properties = (schema['properties'] ?? {}) as Record<string, JsonSchema>;
      return Object.fromEntries(
        required.map((name) => [name, exampleOf(properties[name] ?? {}, root, depth + 1)]),
      );
    }
    case 'array': {
      const length = Number(schema['minItems'] ?? 0);
      return Array.from({ length }, () => exampleOf((schema['items'] ?? {}) as JsonSchema, root, depth + 1));
    }
    case 'string':
      return (FORMATS[String(schema['format'])]?.() ?? 'text').padEnd(Number(schema['minLength'] ?? 0), 'x');
    case 'integer':
    case 'number':
      return numberOf(schema);
    case 'boolean':
      return true;
    default:
      return null;
  }
}

/**
 * Target of a reference, or the first of several alternatives; the parts of `allOf` together. Nothing, if that goes in
 * a circle.
 */
export function schemaBehind(schema: JsonSchema, root: JsonSchema, depth = 0): JsonSchema {
  if (depth > MAX_DEPTH) return {};
  const { $ref: reference, anyOf, oneOf, allOf } = schema;
  const behind = (next: JsonSchema) => schemaBehind(next, root, depth + 1);
  if (typeof reference === 'string' && reference.startsWith('#'))
    return behind(at(root, reference.slice(1)) ?? {});
  const alternatives = (anyOf ?? oneOf) as JsonSchema[] | undefined;
  if (alternatives?.[0]) return behind(alternatives[0]);
  if (!Array.isArray(allOf)) return schema;
  const parts = [{ ...schema, allOf: undefined }, ...(allOf as JsonSchema[]).map(behind)];
  return Object.assign({}, ...parts, {
    properties: Object.assign({}, ...parts.map((part: JsonSchema) => part['properties'])),
    required: parts.flatMap((part: JsonSchema) => (part['required'] as string[] | undefined) ?? []),
  });
}

/** The type that a value has; the first one other than null of several. */
export function typeOf(schema: JsonSchema): string | undefined {
  const { type, properties, items } = schema;
  if (Array.isArray(type)) return String(type.find((one) => one !== 'null') ?? type[0]);
  if (typeof type === 'string') return type;
  if (properties) return 'object';
  return items ? 'array' : undefined;
}

function numberOf({ minimum, exclusiveMinimum, maximum, multipleOf }: JsonSchema): number {
  const least = Number(minimum ?? (exclusiveMinimum === undefined ? 1 : Number(exclusiveMinimum) + 1));
  const step = Number(multipleOf ?? 0);
  const value = step > 0 ? Math.ceil(least / step) * step : least;
  return maximum === undefined ? value : Math.min(value, Number(maximum));
}

/** A part of a schema by JSON Pointer (RFC 6901). */
function at(root: unknown, pointer: string): JsonSchema | undefined {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((value, part) => (value as Record<string, unknown> | undefined)?.[part], root) as
    | JsonSchema
    | undefined;
}
