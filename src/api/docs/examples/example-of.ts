import type { Json, JsonObject } from '../json.js';
import { EXAMPLE_VALUES } from './example-values.js';

const TIME = '2026-11-21T12:00:00.000Z';

/** Stands for a text of which no value is known. The contract test finds it. */
const UNKNOWN_TEXT = '…';

/** Makes examples of what schemas describe: their own, or ones made of {@link EXAMPLE_VALUES}. */
export class ExampleMaker {
  readonly #schemas: Record<string, JsonObject>;

  /** @param schemas the components that schemas refer to */
  constructor(schemas: Record<string, JsonObject>) {
    this.#schemas = schemas;
  }

  /**
   * @param owners what has the schema's fields, the narrowest name first: an operation, the field that holds them, a
   * component
   */
  of(schema: JsonObject, owners: readonly string[]): Json {
    const { $ref, examples, enum: values, const: constant, anyOf, items, format, minimum } = schema;
    if (typeof $ref === 'string') {
      const name = $ref.split('/').at(-1) ?? '';
      return this.of(this.#schemas[name] ?? {}, [...owners, name]);
    }
    const [own] = (examples ?? values ?? []) as Json[];
    if (own !== undefined) return own;
    if (constant !== undefined) return constant;
    const [alternative] = (anyOf ?? []) as JsonObject[];
    if (alternative) return this.of(alternative, owners);
    switch (typesOf(schema)[0]) {
      case 'object':
        return this.#object(schema, owners);
      case 'array':
        return [this.of((items ?? {}) as JsonObject, owners)];
      case 'string':
        return format === 'date-time' ? TIME : UNKNOWN_TEXT;
      case 'integer':
      case 'number':
        return Math.max(0, Number(minimum ?? 0));
      case 'boolean':
        return false;
      default:
        return null;
    }
  }

  /** With the fields that are always there, and those that a narrow name has a value for. */
  #object({ properties = {}, required = [] }: JsonObject, owners: readonly string[]): JsonObject {
    const example: JsonObject = {};
    for (const [name, property] of Object.entries(properties as Record<string, JsonObject>)) {
      const narrow = owners
        .map((owner) => EXAMPLE_VALUES[`${owner}.${name}`])
        .find((value) => value !== undefined);
      if (narrow === undefined && !(required as string[]).includes(name)) continue;
      const general = EXAMPLE_VALUES[name];
      example[name] =
        narrow ?? (general !== undefined && fits(general, property) ? general : this.of(property, [name]));
    }
    return example;
  }
}

function typesOf({ type }: JsonObject): string[] {
  return [type ?? []].flat() as string[];
}

/** Whether a value that many fields of one name have can be this field's. */
function fits(value: Json, schema: JsonObject): boolean {
  const values = schema['enum'] as Json[] | undefined;
  if (values) return values.includes(value);
  if (schema['const'] !== undefined) return schema['const'] === value;
  const alternatives = schema['anyOf'] as JsonObject[] | undefined;
  if (alternatives) return alternatives.some((each) => fits(value, each));
  const actual = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
  return typesOf(schema).some((type) => type === actual || (type === 'integer' && Number.isInteger(value)));
}
