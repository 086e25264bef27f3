import { EVENT_KINDS, type EventKind } from '../../domain/event/event-kinds.js';
import type { JsonObject } from './json.js';
import { type SchemaComponents, toPascalCase } from './schema-components.js';

/** Headers of every delivery: those of Standard Webhooks, and Hookline's own. */
const HEADERS: Record<string, { description: string; schema: JsonObject; example: string }> = {
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
    description:
      'Signatures of `{webhook-id}.{webhook-timestamp}.{body}`, separated by spaces: `v1,` with HMAC-SHA256 or `v1a,` with ed25519, in base64. More than one while secrets are rotated.',
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
};

/**
 * Webhooks that endpoints receive: one for each kind that every account has. Kinds that an account has added are
 * delivered alike.
 */
export function describeWebhooks(components: SchemaComponents): JsonObject {
  return Object.fromEntries(EVENT_KINDS.map((kind) => [kind.name, { post: describe(kind, components) }]));
}

/** The payload of a kind, as a component. Our own time format is written as the standard one, in UTC. */
export function payloadSchema(
  { name, description, schema }: EventKind,
  components: SchemaComponents,
): JsonObject {
  const { $schema: _, ...rest } = schema;
  const text = JSON.stringify({ description, ...rest });
  return components.named(
    `${toPascalCase(name)}Payload`,
    JSON.parse(text.replaceAll('"format":"utc-date-time"', '"format":"date-time","pattern":"Z$"')),
  );
}

function describe(kind: EventKind, components: SchemaComponents): JsonObject {
  return {
    operationId: `receive${toPascalCase(kind.name)}`,
    tags: ['webhooks'],
    summary: `Receive ${kind.name}: ${lowerFirst(kind.description)}`,
    description:
      'Verify the signature over the body as received before you parse it, with a Standard Webhooks library. Answer within 5 seconds, and do the work afterwards.',
    security: [],
    parameters: Object.entries(HEADERS).map(([name, header]) => ({
      name,
      in: 'header',
      required: true,
      ...header,
    })),
    requestBody: {
      required: true,
      description: 'The payload, byte for byte as the producer sent it',
      content: { 'application/json': { schema: payloadSchema(kind, components) } },
    },
    responses: {
      '2XX': {
        description: 'The event was received. The body of the response is kept in part, and ignored.',
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
