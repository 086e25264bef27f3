type Schema = Record<string, unknown>;

/** A field of a payload, as a table shows it. */
export interface Field {
  /** With dots between names, and `[]` behind a list. */
  path: string;
  type: string;
  description: string;
  required: boolean;
  /** Events are found by it. */
  isKey: boolean;
}

/** The fields that a JSON Schema describes, those of objects in it included. */
export function fieldsOf(schema: Schema, prefix = ''): Field[] {
  const required = (schema['required'] ?? []) as string[];
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
  return properties.flatMap(([name, part]) => {
    const items = (part['items'] ?? {}) as Schema;
    const path = `${prefix}${name}`;
    const field = {
      path,
      type: typeOf(part),
      description: String(part['description'] ?? ''),
      required: required.includes(name),
      isKey: part['x-hookline-key'] === true,
    };
    return [field, ...fieldsOf(part, `${path}.`), ...fieldsOf(items, `${path}[].`)];
  });
}

/** The names of the business keys that a schema marks. */
export function keyNamesOf(schema: Schema): string[] {
  return fieldsOf(schema).flatMap(({ path, isKey }) => (isKey && !path.includes('[]') ? [path] : []));
}

function typeOf(schema: Schema): string {
  const values = schema['enum'];
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ');
  const type = [schema['type'] ?? 'any'].flat().join(' or ');
  const format = schema['format'];
  if (type === 'array') return `list of ${typeOf((schema['items'] ?? {}) as Schema)}s`;
  return format === undefined ? type : `${type}, ${String(format)}`;
}
