import { SCOPES } from '../../domain/access/api-key.js';
import { RELEASE } from '../../domain/basics/release.js';
import { CURRENT_VERSION } from '../../domain/http/versions.js';
import type { Operation } from '../http/operation.js';
import { problemSchema } from '../http/schemas.js';
import { describeOperation, failureComponents, HEADERS } from './describe-operation.js';
import { addExamples } from './examples/add-examples.js';
import type { JsonObject } from './json.js';
import { SchemaComponents } from './schema-components.js';
import { describeWebhooks } from './webhooks.js';

/** The OpenAPI 3.1 document of the operations: made from the very schemas that check requests. */
export function createOpenApiDocument(operations: readonly Operation[]): JsonObject {
  const components = new SchemaComponents();
  const paths: Record<string, JsonObject> = {};
  for (const operation of operations) {
    const template = templateOf(operation, operations);
    const path = `/${CURRENT_VERSION}${template.replace(/:(\w+)/g, '{$1}')}`;
    paths[path] = { ...paths[path], [operation.method]: describeOperation(operation, template, components) };
  }
  components.named('Problem', components.of(problemSchema, 'output'));
  const webhooks = describeWebhooks(components);
  const document: JsonObject = {
    openapi: '3.1.0',
    info: {
      title: 'Hookline',
      version: RELEASE,
      summary: 'Reliable event notifications, and a query API',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The server that this document came from' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    webhooks,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: `An API key, an OAuth access token or a portal token in the Authorization header. ${ONE_OF}`,
        },
        access_token: {
          type: 'apiKey',
          in: 'query',
          name: 'access_token',
          description: `An API key, an OAuth access token or a portal token as a query parameter. ${ONE_OF}`,
        },
        oauth2: {
          type: 'oauth2',
          flows: oauthFlows(),
          description: `How to get an access token; send it as with \`bearer\`. ${ONE_OF}`,
        },
      },
      headers: HEADERS,
      responses: failureComponents(operations),
      schemas: components.all,
    },
  };
  addExamples(document);
  return document;
}

const DESCRIPTION = [
  'Producers post events; Hookline delivers each to every endpoint that is registered for its kind, signed as Standard Webhooks, and retries for days.',
  'Errors are problem documents (RFC 9457) with a stable `code`. Lists are paged by cursor: pass `paging.cursors.after` as `after`, or follow `paging.next`.',
  'Responses may gain fields at any time.',
].join('\n\n');

const ONE_OF =
  'Use one of `bearer`, `access_token` and `oauth2`: a request with a token in two places is refused.';

/** Tag of each first part of a path. */
const TAGS = {
  events: 'Events from producers',
  scheduled_events: 'Events that are sent at a later time',
  event_kinds: 'The catalogue of event kinds, and the schemas of their payloads',
  catalogue: "The account's event kinds as OpenAPI and AsyncAPI documents, for subscribers' generators",
  endpoints: 'Where events are delivered',
  deliveries: 'Deliveries of events to endpoints',
  subjects: 'Persons that events are about: erasing their payloads',
  erasures: 'Certificates of what was erased',
  stats: 'How many deliveries wait, and how many were closed',
  installation: 'All accounts at once, for the operator',
  me: 'The profile behind the token',
  batch: 'Several reads in one request',
  profiles: "Profiles, for the account's own systems",
  sequence: 'Numbers of events: whether any is missing',
  session: 'Profile and permissions of a token',
  api_keys: 'Keys that systems call the API with',
  oauth_clients: 'Applications that get tokens by OAuth 2.0',
  accounts: 'Tenants, for the operator of the installation',
  changes: 'Audit log of changes',
  inboxes: 'Test inboxes: temporary endpoints that show what they received',
  listeners: 'Temporary endpoints whose deliveries go to a connected program, such as `hookline listen`',
  log: 'The log that proves records: checkpoints, keys and proofs',
  explain: 'Why an endpoint got an event, or did not',
  exports: "Stream of an account's events of a period, with their closed deliveries",
  feed: 'Events in one order, for readers that fetch them',
  what_if: 'What a new endpoint would have received',
  replays: 'Bulk actions on deliveries: resend, retry, cancel, resume',
  webhooks: 'Requests that endpoints receive',
};

/**
 * An operation's path. OpenAPI takes two that differ only in a parameter's name for one, so such parameters get a
 * common name.
 */
function templateOf({ path }: Operation, operations: readonly Operation[]): string {
  const shape = path.replace(/:\w+/g, ':');
  const alike = operations
    .map((other) => other.path)
    .filter((other) => other.replace(/:\w+/g, ':') === shape);
  const names = [...new Set(alike)].map((other) => other.match(/(?<=:)\w+/g) ?? []);
  let index = 0;
  return path.replace(/:\w+/g, () => {
    const here = new Set(names.map((all) => all[index]));
    index += 1;
    return `:${[...here].join('_or_')}`;
  });
}

function oauthFlows(): JsonObject {
  const scopes = Object.fromEntries(SCOPES.map((scope) => [scope, scope]));
  const tokenUrl = '/oauth/token';
  return {
    clientCredentials: { tokenUrl, scopes },
    authorizationCode: { authorizationUrl: '/oauth/authorize', tokenUrl, refreshUrl: tokenUrl, scopes },
  };
}
