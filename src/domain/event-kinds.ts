/** A kind of event: a name that producers post to and endpoints register for, and the shape of its payload. */
export interface EventKind {
  name: string;
  description: string;
  /** JSON Schema, draft 2020-12. */
  schema: Record<string, unknown>;
  /** Hookline emits it itself; nobody can post it, and `*` does not include it. */
  operational?: boolean;
}

const time = { type: 'string', format: 'utc-date-time', description: 'ISO 8601, UTC.' };

/** A kind of event about an endpoint. */
function endpointKind(name: string, description: string, properties: Record<string, unknown>): EventKind {
  return {
    name,
    description,
    operational: true,
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      required: ['endpoint_id', ...Object.keys(properties)],
      properties: { endpoint_id: { type: 'string' }, ...properties },
    },
  };
}

/** In an endpoint's `event_kinds`: every kind that producers post, or will post. Operational kinds are named one by one. */
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
  endpointKind('endpoint.failing', 'An endpoint has begun to fail.', {
    since: time,
    failures: { type: 'integer' },
    last_failure: { type: 'string', description: 'In words: `answered 503`.' },
  }),
  endpointKind('endpoint.recovered', 'An endpoint that was failing took a delivery again.', {
    since: time,
    recovered_at: time,
    failures: { type: 'integer' },
  }),
  endpointKind('endpoint.disabled', 'An endpoint was taken out of service. Its deliveries wait.', {
    since: time,
    disabled_at: time,
    reason: { type: 'string' },
  }),
];

/** The kind of that name; `undefined` where there is none. */
export function findEventKind(name: string): EventKind | undefined {
  return EVENT_KINDS.find((kind) => kind.name === name);
}

/** Whether Hookline emits events of a kind itself. */
export function isOperational(name: string): boolean {
  return findEventKind(name)?.operational === true;
}

/** Whether an endpoint that lists `eventKinds` is told of events of `kind`. */
export function matchesKind(eventKinds: readonly string[], kind: string): boolean {
  return eventKinds.includes(kind) || (eventKinds.includes(ANY_KIND) && !isOperational(kind));
}
