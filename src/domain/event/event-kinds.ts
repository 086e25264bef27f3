import {
  KEY_KEYWORD,
  SUBJECT_KEYWORD,
} from '../../../packages/payload-contract/src/schema/schema-keywords.js';
import type { OperationalKind } from './operational-event.js';
import { PROFILE_UPDATED, PROFILE_UPDATED_KIND } from './profile-updated.js';

/** A kind of event: a name that producers post to and endpoints register for, and the shape of its payload. */
export interface EventKind {
  name: string;
  description: string;
  /** Version of the schema: 1 for the first. */
  version: number;
  /** JSON Schema, draft 2020-12. */
  schema: Record<string, unknown>;
  /** Sent by Hookline itself: nobody can post it, and `*` does not include it. */
  emitted?: true;
  /** Emitted, and about endpoints and their deliveries: nothing of this sort is sent about its own deliveries. */
  operational?: true;
}

/** Names of kinds: words of small letters, digits and underscores, with dots between, such as `order.shipped`. */
export const EVENT_KIND_NAME = /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$/;
export const MAX_EVENT_KIND_NAME_LENGTH = 128;

/** The kind of a test event, unless it is one of another kind. */
export const TEST_KIND = 'endpoint.test';

/** The first words of kinds that Hookline itself sends. */
const RESERVED_WORDS = ['endpoint', 'delivery', 'hookline'];

/**
 * Whether no account has ever been able to add a kind of this name. Kinds that are built in later are not among these.
 */
export function isReservedEventKindName(name: string): boolean {
  return ['purchase', PROFILE_UPDATED].includes(name) || RESERVED_WORDS.includes(name.split('.')[0] ?? '');
}

/** Whether an account may add a kind of this name. */
export function isFreeEventKindName(name: string): boolean {
  return !findEventKind(name) && !isReservedEventKindName(name);
}

const time = { type: 'string', format: 'utc-date-time', description: 'ISO 8601, UTC.' };

/** Parts of an operational kind: its description, its properties besides `endpoint_id`, and an example of these. */
type OperationalParts = [
  description: string,
  properties: Record<string, unknown>,
  example: Record<string, unknown>,
];

const OPERATIONAL_KINDS: Record<OperationalKind, OperationalParts> = {
  'endpoint.failing': [
    'An endpoint has begun to fail.',
    {
      since: time,
      failures: { type: 'integer' },
      last_failure: { type: 'string', description: 'Human-readable: `got a 503 response`.' },
    },
    { since: '2026-11-21T12:00:00.000Z', failures: 5, last_failure: 'got a 503 response' },
  ],
  'endpoint.recovered': [
    'An endpoint that was failing took a delivery again.',
    { since: time, recovered_at: time, failures: { type: 'integer' } },
    { since: '2026-11-21T12:00:00.000Z', recovered_at: '2026-11-21T12:07:31.000Z', failures: 9 },
  ],
  'endpoint.disabled': [
    'An endpoint was disabled. Its deliveries wait.',
    { since: time, disabled_at: time, reason: { type: 'string' } },
    {
      since: '2026-11-21T12:00:00.000Z',
      disabled_at: '2026-11-26T12:00:00.000Z',
      reason: 'It failed for 5 days without a success; the last attempt got a 503 response.',
    },
  ],
  'delivery.exhausted': endsKind(
    'Deliveries of an endpoint have ended without success: no attempt of the schedule succeeded.',
  ),
  'delivery.expired': endsKind(
    'Deliveries of an endpoint have ended without success: they were parked for longer than the limit.',
  ),
};

/** A kind of event about deliveries that ended together. */
function endsKind(description: string): OperationalParts {
  return [
    description,
    {
      count: {
        type: 'integer',
        description: 'Number of these deliveries; more than 1,000 are in further events.',
      },
      first_closed_at: time,
      last_closed_at: time,
      event_kinds: { type: 'array', items: { type: 'string' } },
      deliveries: {
        type: 'array',
        description: 'The first 100 of them.',
        items: {
          type: 'object',
          required: ['delivery_id', 'event_id', 'event_kind', 'closed_at'],
          properties: {
            delivery_id: { type: 'string' },
            event_id: { type: 'string' },
            event_kind: { type: 'string' },
            closed_at: time,
          },
        },
      },
    },
    {
      count: 1,
      first_closed_at: '2026-11-24T12:00:00.000Z',
      last_closed_at: '2026-11-24T12:00:00.000Z',
      event_kinds: ['purchase'],
      deliveries: [
        {
          delivery_id: 'dlv_01M7Y2V07RS2Y47QBBGSV7HTCR_01M7Y2TZZ9K3C5R4Q0V8W1XHPN',
          event_id: 'evt_01M7Y2V07RS2Y47QBBGSV7HTCR',
          event_kind: 'purchase',
          closed_at: '2026-11-24T12:00:00.000Z',
        },
      ],
    },
  ];
}

/** An operational kind. */
function endpointKind(name: string, ...[description, properties, example]: OperationalParts): EventKind {
  return {
    name,
    description,
    version: 1,
    emitted: true,
    operational: true,
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      required: ['endpoint_id', ...Object.keys(properties)],
      properties: { endpoint_id: { type: 'string' }, ...properties },
      examples: [{ endpoint_id: 'ep_01M7Y2TZZ9K3C5R4Q0V8W1XHPN', ...example }],
    },
  };
}

/**
 * In an endpoint's `event_kinds`: every kind that producers post, or will post. Kinds that Hookline emits are named one
 * by one.
 */
export const ANY_KIND = '*';

/** The kinds that Hookline knows. */
export const EVENT_KINDS: readonly EventKind[] = [
  {
    name: 'purchase',
    description: 'A customer completed a purchase.',
    version: 1,
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      required: ['order_id', 'customer_email', 'total', 'items', 'created_at'],
      properties: {
        order_id: { type: 'string', [KEY_KEYWORD]: true },
        customer_email: { type: 'string', format: 'idn-email', [SUBJECT_KEYWORD]: true },
        total: { type: 'number', description: 'Decimal amount; the currency is the producer’s.' },
        items: {
          type: 'array',
          items: {
            type: 'object',
            required: ['name', 'qty'],
            properties: { name: { type: 'string' }, qty: { type: 'integer' } },
          },
        },
        created_at: { type: 'string', format: 'utc-date-time', description: 'ISO 8601, UTC.' },
      },
      examples: [
        {
          order_id: 'order-1001',
          customer_email: 'ada@example.com',
          total: 12.5,
          items: [{ name: 'Notebook', qty: 2 }],
          created_at: '2026-01-31T12:00:00Z',
        },
      ],
    },
  },
  PROFILE_UPDATED_KIND,
  ...Object.entries(OPERATIONAL_KINDS).map(([name, parts]) => endpointKind(name, ...parts)),
];

/** The kind of that name; `undefined` if there is none. */
export function findEventKind(name: string): EventKind | undefined {
  return EVENT_KINDS.find((kind) => kind.name === name);
}

/** Whether Hookline emits events of a kind itself. */
export function isEmitted(name: string): boolean {
  return findEventKind(name)?.emitted === true;
}

/** Whether Hookline emits events of a kind, which are about endpoints and their deliveries. */
export function isOperational(name: string): boolean {
  return findEventKind(name)?.operational === true;
}

/** Whether an endpoint that lists `eventKinds` gets events of `kind`. */
export function matchesKind(eventKinds: readonly string[], kind: string): boolean {
  return eventKinds.some(
    (listed) =>
      listed === kind ||
      (listed === ANY_KIND && !isEmitted(kind)) ||
      (isFamily(listed) && !isEmitted(kind) && kind.startsWith(listed.slice(0, -1))),
  );
}

/** Whether a text stands for all kinds that begin with some words, such as `order.*`. */
export function isFamily(text: string): boolean {
  return text.endsWith('.*') && EVENT_KIND_NAME.test(text.slice(0, -2));
}
