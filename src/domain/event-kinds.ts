/** A kind of event: a name that producers post to and endpoints register for, and the shape of its payload. */
export interface EventKind {
  name: string;
  description: string;
  /** JSON Schema, draft 2020-12. */
  schema: Record<string, unknown>;
}

/** In an endpoint's `event_kinds`: every kind there is or will be. */
export const ANY_KIND = '*';

/** The kinds that Hookline knows. */
export const EVENT_KINDS: readonly EventKind[] = [
  {
    name: 'purchase',
    description: 'A customer completed a purchase.',
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      required: ['order_id', 'customer_email', 'total', 'items', 'created_at'],
      properties: {
        order_id: { type: 'string', minLength: 1, maxLength: 256 },
        customer_email: { type: 'string', format: 'email', maxLength: 320 },
        total: { type: 'number', description: 'Decimal amount; the currency is the producer’s.' },
        items: {
          type: 'array',
          items: {
            type: 'object',
            required: ['name', 'qty'],
            properties: { name: { type: 'string', minLength: 1 }, qty: { type: 'integer', minimum: 1 } },
          },
        },
        created_at: { type: 'string', format: 'utc-date-time', description: 'ISO 8601, UTC.' },
      },
    },
  },
];

/** The kind of that name; `undefined` where there is none. */
export function findEventKind(name: string): EventKind | undefined {
  return EVENT_KINDS.find((kind) => kind.name === name);
}

/** Whether an endpoint that lists `eventKinds` is told of events of `kind`. */
export function matchesKind(eventKinds: readonly string[], kind: string): boolean {
  return eventKinds.includes(kind) || eventKinds.includes(ANY_KIND);
}
