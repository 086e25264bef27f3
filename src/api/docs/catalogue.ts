import type { EventKind } from '../../domain/event/event-kinds.js';
import type { JsonObject } from './json.js';
import { SchemaComponents } from './schema-components.js';
import { componentNames, describeWebhooks, payloadSchema, WEBHOOK_HEADERS } from './webhooks.js';

/** The event kinds that an account's endpoints can get, and whose they are. */
export interface Catalogue {
  account: string;
  kinds: readonly EventKind[];
}

/** An OpenAPI 3.1 document with a webhook for each kind, for generators of receivers. */
export function catalogueAsOpenApi(catalogue: Catalogue): JsonObject {
  const components = new SchemaComponents();
  const webhooks = describeWebhooks(components, catalogue.kinds);
  return {
    openapi: '3.1.0',
    info: infoOf(catalogue),
    tags: [{ name: 'webhooks', description: 'Webhooks that endpoints receive' }],
    webhooks,
    components: { schemas: components.all },
  };
}

/** An AsyncAPI 3 document: one channel, the subscriber's URL, and an operation and a message for each kind. */
export function catalogueAsAsyncApi(catalogue: Catalogue): JsonObject {
  const { kinds } = catalogue;
  const components = new SchemaComponents();
  const names = componentNames(kinds);
  const messages = kinds.map((kind) => [
    names.get(kind.name) ?? '',
    describeMessage(kind, components, names.get(kind.name) ?? ''),
  ]);
  const named = [...names.values()];
  return {
    asyncapi: '3.0.0',
    info: infoOf(catalogue),
    defaultContentType: 'application/json',
    channels: {
      webhooks: {
        address: null,
        description: 'The URL of an endpoint, to which each event is posted',
        messages: Object.fromEntries(named.map((name) => [name, { $ref: `#/components/messages/${name}` }])),
      },
    },
    operations: Object.fromEntries(
      named.map((name) => [
        `receive${name}`,
        {
          action: 'receive',
          channel: { $ref: '#/channels/webhooks' },
          messages: [{ $ref: `#/channels/webhooks/messages/${name}` }],
          bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
        },
      ]),
    ),
    components: { messages: Object.fromEntries(messages), schemas: components.all },
  };
}

function describeMessage(kind: EventKind, components: SchemaComponents, component: string): JsonObject {
  const { name, description, schema } = kind;
  const { examples } = schema;
  const headers = Object.entries(WEBHOOK_HEADERS).map(([header, { description, schema, example }]) => [
    header,
    { ...schema, description, examples: [example] },
  ]);
  return {
    name,
    title: name,
    summary: description,
    contentType: 'application/json',
    headers: {
      type: 'object',
      required: Object.keys(WEBHOOK_HEADERS),
      properties: Object.fromEntries(headers),
    },
    payload: payloadSchema(kind, components, component),
    ...(Array.isArray(examples) && { examples: examples.map((payload) => ({ payload })) }),
  };
}

/** The version counts the versions of all schemas, so that it changes with each of them. */
function infoOf({ account, kinds }: Catalogue): JsonObject {
  return {
    title: `Events of ${account}`,
    version: String(kinds.reduce((sum, { version }) => sum + version, 0)),
    description:
      'Requests that Hookline posts to endpoints, signed as Standard Webhooks. The header `webhook-event-kind` names the kind.',
  };
}
