type Schema = Record<string, unknown>;

/** An example of what a JSON Schema describes: its own, or one made of its properties. */
export function exampleOf(schema: Schema, depth = 0): unknown {
  const [given] = [schema['examples'], schema['enum']].flatMap((values) =>
    Array.isArray(values) ? values : [],
  );
  if (given !== undefined) return given;
  if ('const' in schema) return schema['const'];
  if ('default' in schema) return schema['default'];
  const type = [schema['type']].flat()[0];
  if (depth > 6) return null;
  if (type === 'object' || 'properties' in schema) {
    const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
    return Object.fromEntries(properties.map(([name, part]) => [name, exampleOf(part, depth + 1)]));
  }
  if (type === 'array') return [exampleOf((schema['items'] ?? {}) as Schema, depth + 1)];
  if (type === 'string') return FORMATS[String(schema['format'])] ?? 'text';
  if (type === 'integer' || type === 'number') return schema['minimum'] ?? 1;
  if (type === 'boolean') return true;
  return null;
}

const FORMATS: Record<string, string> = {
  'date-time': '2026-01-31T12:00:00Z',
  'utc-date-time': '2026-01-31T12:00:00Z',
  date: '2026-01-31',
  time: '12:00:00Z',
  email: 'ada@example.com',
  'idn-email': 'ada@example.com',
  uri: 'https://example.com/',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uuid: '123e4567-e89b-12d3-a456-426614174000',
};
