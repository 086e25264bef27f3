import {
  isSchema,
  mapSchema,
  referencedDefinition,
  type Schema,
} from '../../../packages/payload-contract/src/schema/schema-keywords.js';
import { SCHEMES } from '../../domain/delivery/signature.js';
import { EVENT_KINDS, type EventKind } from '../../domain/event/event-kinds.js';
import type { JsonObject } from './json.js';
import { type SchemaComponents, toPascalCase } from './schema-components.js';

const SIGNATURES = Object.entries(SCHEMES)
  .map(([name, { algorithm }]) => `\`${name},\` with ${algorithm}`)
  .join(' or ');

/** Headers of every delivery: those of Standard Webhooks, and Hookline's own. */
export const WEBHOOK_HEADERS: Record<
  string,
  { required?: boolean; description: string; schema: JsonObject; example: string }
> = {
  'webhook-id': {
    description: "The event's id. It is the same in every attempt and resend: use it to ignore repeats.",
    schema: { type: 'string' },
    example: 'evt_01M7Y2V07RS2Y47QBBGSV7HTCR',
  },
  'webhook-timestamp': {
    description: 'When this attempt was made, in seconds since the epoch',
    schema: { type: 'string', pattern: '^\\d+$' },
    example: '1801180800',
  },
  'webhook-signature': {
    description: `Signatures of \`{webhook-id}.{webhook-timestamp}.{body}\`, separated by spaces: ${SIGNATURES}, in base64. More than one while secrets are rotated.`,
    schema: { type: 'string' },
    example: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
  'webhook-event-kind': {
    description: "The event's kind",
    schema: { type: 'string' },
    example: 'purchase',
  },
  'webhook-attempt': {
    description: 'Number of the attempt, from 1',
    schema: { type: 'string', pattern: '^[1-9]\\d*$' },
    example: '1',
  },
  'webhook-order': {
    required: false,
    description:
      'Ordered deliveries only: the number among those of the same key at this endpoint, the number of the previous one, and a token for the key (RFC 9651)',
    schema: { type: 'string', pattern: '^[1-9]\\d*(;previous=[1-9]\\d*)?(;key="o:[\\w-]+")?$' },
    example: '42;previous=41;key="o:pX3n0bVv2l7Yc1dK"',
  },
};

/** Webhooks that endpoints receive: one for each of some kinds, by default those that every account has. */
export function describeWebhooks(
  components: SchemaComponents,
  kinds: readonly EventKind[] = EVENT_KINDS,
): JsonObject {
  const names = componentNames(kinds);
  return Object.fromEntries(
    kinds.map((kind) => [kind.name, { post: describe(kind, names.get(kind.name) ?? '', components) }]),
  );
}

/** A name for each kind that generators can name a type by. No two are equal, also of `order.paid` and `order_paid`. */
export function componentNames(kinds: readonly EventKind[]): Map<string, string> {
  const taken = new Set<string>();
  return new Map(
    kinds.map(({ name }) => {
      const wanted = toPascalCase(name);
      let free = wanted;
      for (let number = 2; taken.has(free); number += 1) free = `${wanted}${number}`;
      taken.add(free);
      return [name, free];
    }),
  );
}

/**
 * The payload of a kind, as a component; its definitions are components beside it. Hookline's own time format is
 * written as the standard one, in UTC.
 */
export function payloadSchema(
  { name, description, schema }: EventKind,
  components: SchemaComponents,
  component = toPascalCase(name),
): JsonObject {
  const { $defs, ...root } = schema;
  const base = `${component}Payload`;
  const place = (definition: string) => `${base}_${definition}`;
  const adapted = (one: Schema) => mapSchema(one, (inner) => adapt(inner, place)) as JsonObject;
  // Generators take no `true` and `false` there.
  for (const [definition, one] of Object.entries(isSchema($defs) ? $defs : {}))
    components.all[place(definition)] = isSchema(one) ? adapted(one) : one === false ? { not: {} } : {};
  return components.named(base, { description, ...adapted(root) });
}

function adapt(
  { $schema: _, $id: __, $defs: ___, ...schema }: Schema,
  place: (name: string) => string,
): Schema {
  const { $ref, format } = schema;
  const definition = referencedDefinition($ref);
  return {
    ...schema,
    ...(definition !== undefined && { $ref: `#/components/schemas/${place(definition)}` }),
    ...(format === 'utc-date-time' && { format: 'date-time', pattern: 'Z$' }),
  };
}

function describe(kind: EventKind, component: string, components: SchemaComponents): JsonObject {
  return {
    operationId: `receive${component}`,
    tags: ['webhooks'],
    summary: `Receive ${kind.name}: ${lowerFirst(kind.description)}`,
    description:
      'Verify the signature over the body as received before you parse it, with a Standard Webhooks library. Respond within 5 seconds, and do the work afterwards.',
    security: [],
    parameters: Object.entries(WEBHOOK_HEADERS).map(([name, header]) => ({
      name,
      in: 'header',
      required: true,
      ...header,
    })),
    requestBody: {
      required: true,
      description: 'The payload, byte for byte as the producer sent it',
      content: { 'application/json': { schema: payloadSchema(kind, components, component) } },
    },
    responses: {
      '2XX': {
        description:
          'The event was received. A part of the response body is stored; it is otherwise ignored.',
      },
      '410': { description: 'The endpoint wants no more events: it is disabled' },
      '429': { description: 'Try again later: `Retry-After` is honored. `503` means the same.' },
      default: { description: 'The attempt failed. It is repeated as the retry schedule says.' },
    },
  };
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1).replace(/\.$/, '');
}
