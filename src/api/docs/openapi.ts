import { z } from 'zod';
import { SCOPES } from '../../domain/access/api-key.js';
import { DELIVERY_ID_PATTERN, type IdKind, idPattern } from '../../domain/basics/ids.js';
import { RELEASE } from '../../domain/basics/release.js';
import { EVENT_KINDS } from '../../domain/event/event-kinds.js';
import { PROBLEMS, type ProblemCode } from '../../domain/http/problem.js';
import { CURRENT_VERSION } from '../../domain/http/versions.js';
import { type Operation, problemsOf, type ResponseDocument } from '../http/operation.js';
import { problemSchema } from '../http/schemas.js';

/** JSON, as far as a document needs it. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

/** The OpenAPI 3.1 document of the operations: made from the very schemas that check requests. */
export function createOpenApiDocument(operations: readonly Operation[]): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const operation of operations) {
    const template = templateOf(operation, operations);
    const path = `/${CURRENT_VERSION}${template.replace(/:(\w+)/g, '{$1}')}`;
    paths[path] = { ...paths[path], [operation.method]: describe(operation, template) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Hookline',
      version: RELEASE,
      summary: 'Event notifications that arrive, and a query API',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An OAuth access token, or an API key' },
        access_token: {
          type: 'apiKey',
          in: 'query',
          name: 'access_token',
          description: 'The same, in the query',
        },
        oauth2: { type: 'oauth2', flows: oauthFlows() },
      },
      headers: HEADERS,
      responses: failureComponents(operations),
      schemas: { problem: toJsonSchema(problemSchema, 'output') },
    },
  };
}

/** An operation's path. OpenAPI takes two that differ only in a parameter's name for one, so such parameters get a common name. */
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

const HEADERS: JsonObject = {
  'x-request-id': { description: 'Names the request in our log', required: true, schema: { type: 'string' } },
  RateLimit: {
    description: 'What is left of each limit, and for how many seconds',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': { description: 'Each limit: quota and window in seconds', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds', required: true, schema: { type: 'integer', minimum: 1 } },
  'WWW-Authenticate': { description: 'RFC 6750', required: true, schema: { type: 'string' } },
  Location: { description: 'Where it is from now on', required: true, schema: { type: 'string' } },
  ETag: { description: 'Names this version, for If-Match and If-None-Match', schema: { type: 'string' } },
};

function headers(...names: string[]): JsonObject {
  const all = ['x-request-id', 'RateLimit', 'RateLimit-Policy', ...names];
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function describe(operation: Operation, template: string): JsonObject {
  const { id, path, summary, scope, body, bodyTypes = ['application/json'], rawBody } = operation;
  const content = body ? toJsonSchema(body, 'input') : rawBody && payloadSchema();
  return {
    operationId: id,
    tags: [path.split('/')[1] ?? ''],
    summary,
    description: `Scope: \`${scope}\`.`,
    security: [{ bearer: [] }, { access_token: [] }, { oauth2: [scope] }],
    parameters: parameters(operation, template),
    ...(content && {
      requestBody: {
        required: true,
        ...(rawBody && { description: rawBody.description }),
        content: Object.fromEntries(bodyTypes.map((type) => [type, { schema: content }])),
      },
    }),
    responses: { ...successes(operation), ...failures(problemsOf(operation)) },
  };
}

function successes({ responses, method, headers: taken = {} }: Operation): JsonObject {
  const tagged = 'If-None-Match' in taken || 'If-Match' in taken;
  const describeOne = (status: string, { description, schema }: ResponseDocument): JsonObject => ({
    description,
    headers: headers(
      ...(status === '201' || status === '202' ? ['Location'] : []),
      ...(tagged && method !== 'delete' ? ['ETag'] : []),
    ),
    ...(schema && { content: { 'application/json': { schema: toJsonSchema(schema, 'output') } } }),
  });
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [status, describeOne(status, response)]),
  );
}

/** Answers of failure, by status. Each is a component that is named after its codes, as most operations share them. */
function failures(codes: readonly ProblemCode[]): JsonObject {
  return Object.fromEntries(
    [...groupByStatus(codes)].map(([status, group]) => [
      String(status),
      { $ref: `#/components/responses/${group.join('.')}` },
    ]),
  );
}

function failureComponents(operations: readonly Operation[]): JsonObject {
  const groups = operations.flatMap((operation) => [...groupByStatus(problemsOf(operation))]);
  return Object.fromEntries(
    groups.map(([status, group]) => [group.join('.'), describeFailure(status, group)]),
  );
}

function describeFailure(status: number, group: readonly ProblemCode[]): JsonObject {
  return {
    description: group.map((code) => `\`${code}\`: ${PROBLEMS[code][1]}`).join('. '),
    headers: headers(
      ...(status === 401 || status === 403 ? ['WWW-Authenticate'] : []),
      ...(status === 429 || status === 503 ? ['Retry-After'] : []),
    ),
    content: {
      'application/problem+json': {
        schema: {
          allOf: [
            { $ref: '#/components/schemas/problem' },
            { properties: { code: { enum: [...group] }, status: { const: status } } },
          ],
        },
      },
    },
  };
}

function groupByStatus(codes: readonly ProblemCode[]): Map<number, ProblemCode[]> {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of codes) {
    const [status] = PROBLEMS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return byStatus;
}

function parameters({ path, query, headers: taken = {} }: Operation, template: string): Json[] {
  const names = template.match(/(?<=:)\w+/g) ?? [];
  const inPath = [...path.matchAll(/(\w+)\/:(\w+)/g)].map(([, resource = '', name = ''], index) => ({
    name: names[index] ?? name,
    in: 'path',
    required: true,
    schema: { type: 'string', pattern: pathPattern(resource, name) },
  }));
  const shape = query ? toJsonSchema(query, 'input') : {};
  const required = (shape['required'] ?? []) as string[];
  const inQuery = Object.entries((shape['properties'] ?? {}) as JsonObject).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    // A list is written with commas.
    ...((schema as JsonObject)['type'] === 'array' && { style: 'form', explode: false }),
    schema,
  }));
  const inHeaders = Object.entries(taken).map(([name, description]) => ({
    name,
    in: 'header',
    description,
    schema: { type: 'string', ...(name === 'Idempotency-Key' && { pattern: '^[\\x21-\\x7e]{1,255}$' }) },
  }));
  return [...inPath, ...inQuery, ...inHeaders];
}

/** What a resource's ids look like, by its name in the path. */
const ID_KINDS: Record<string, IdKind> = {
  accounts: 'account',
  api_keys: 'api_key',
  endpoints: 'endpoint',
  events: 'event',
  oauth_clients: 'oauth_client',
  profiles: 'profile',
};

function pathPattern(resource: string, name: string): string {
  if (name !== 'id') return '^[\\w.-]{1,256}$';
  const kind = ID_KINDS[resource];
  return kind ? idPattern(kind).source : DELIVERY_ID_PATTERN.source;
}

/** Payloads of the event kinds that every account has. Our own format is written as the standard one, in UTC. */
function payloadSchema(): JsonObject {
  const text = JSON.stringify({ anyOf: EVENT_KINDS.map(({ schema }) => schema) });
  return JSON.parse(text.replaceAll('"format":"utc-date-time"', '"format":"date-time","pattern":"Z$"'));
}

/** A zod schema as JSON Schema. A schema whose check is wider than what it documents says so in `meta({ openapi })`. */
function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override({ jsonSchema }) {
      const target = jsonSchema as Record<string, unknown>;
      const own = target['openapi'];
      if (own) {
        for (const key of ['anyOf', 'type', 'openapi']) delete target[key];
        Object.assign(target, own);
      }
      // Answers may grow; a client must not break on a field that it does not know.
      if (io === 'output') delete target['additionalProperties'];
    },
  });
  return rest as JsonObject;
}
