import { z } from 'zod';
import type { JsonObject } from './json.js';

/** Whether a schema describes what is sent to Hookline or what it answers. */
type Direction = 'input' | 'output';

/** The schemas of the document. A schema with an id (`meta({ id })`), or that is given a name here, is a component. */
export class SchemaComponents {
  readonly all: JsonObject = {};

  /** A zod schema as JSON Schema, with references to components. */
  of(schema: z.ZodType, direction: Direction): JsonObject {
    // A schema that stands alone would be written out, so it stands in an object here.
    const { $defs = {}, properties } = toJsonSchema(z.object({ schema }), direction);
    Object.assign(this.all, $defs);
    return (properties as JsonObject)['schema'] as JsonObject;
  }

  /** Makes a component of a schema. @returns a reference to it */
  named(name: string, schema: JsonObject): JsonObject {
    if (typeof schema['$ref'] === 'string') return schema;
    this.all[name] = schema;
    return { $ref: `#/components/schemas/${name}` };
  }
}

function toJsonSchema(schema: z.ZodType, io: Direction): JsonObject {
  const made = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: (context) => adapt(context, io),
  });
  const text = JSON.stringify(made).replaceAll('"#/$defs/', '"#/components/schemas/');
  return JSON.parse(text, (_, value) => withOneType(value));
}

/** A schema as generators of clients take it, which know one type, or one and null: several are alternatives. */
function withOneType(schema: { type?: unknown }): unknown {
  const { type: types, ...rest } = schema ?? {};
  if (!Array.isArray(types) || types.filter((type) => type !== 'null').length < 2) return schema;
  return { ...rest, anyOf: types.map((type) => ({ type })) };
}

/**
 * Writes a schema as clients need it. One whose check is wider than its documentation says so in `meta({ openapi })`.
 */
function adapt({ jsonSchema }: { jsonSchema: object }, io: Direction): void {
  const target = jsonSchema as Record<string, unknown>;
  const own = target['openapi'];
  if (own) {
    for (const key of ['anyOf', 'type', 'pattern', 'openapi']) delete target[key];
    Object.assign(target, own);
  }
  // The name is the component's.
  delete target['id'];
  // Answers may grow; a client must not break on a field that it does not know.
  if (io === 'output' && target['additionalProperties'] === false) delete target['additionalProperties'];
}

/** `listEndpoints` as the first part of a component's name: `ListEndpoints`; `order.shipped`: `OrderShipped`. */
export function toPascalCase(name: string): string {
  return name.replace(/(?:^|[._])(\w)/g, (_, first: string) => first.toUpperCase());
}
