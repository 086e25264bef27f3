import { DELIVERY_ID_PATTERN } from '../../domain/basics/delivery-id.js';
import { type IdKind, idPattern } from '../../domain/basics/ids.js';
import { groupedBy } from '../../domain/basics/objects.js';
import { EVENT_KINDS } from '../../domain/event/event-kinds.js';
import { PROBLEMS, type ProblemCode } from '../../domain/http/problems.js';
import { ACCOUNT_HEADER } from '../http/caller/acting-account.js';
import { type Operation, problemsOf, type ResponseDocument } from '../http/operation.js';
import type { Json, JsonObject } from './json.js';
import { type SchemaComponents, toPascalCase } from './schema-components.js';
import { payloadSchema } from './webhooks.js';

const header = (description: string, isRequired: boolean, schema: JsonObject = { type: 'string' }) => ({
  description,
  ...(isRequired && { required: true }),
  schema,
});

/** Headers of responses, as components. */
export const HEADERS: JsonObject = {
  'x-request-id': header('Identifies the request in the log', true),
  RateLimit: header('Remaining requests of each rate limit, and the seconds until its window ends', false),
  'RateLimit-Policy': header('Each rate limit: quota and window in seconds', false),
  'Retry-After': header('Seconds to wait before another request', true, { type: 'integer', minimum: 1 }),
  'WWW-Authenticate': header('Why the token was refused (RFC 6750)', true),
  Location: header('Path of the resource', true),
  ETag: header('Identifies this version of the resource, for If-Match and If-None-Match', false),
};

function headers(...names: string[]): JsonObject {
  const all = ['x-request-id', 'RateLimit', 'RateLimit-Policy', ...names];
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** An operation as the document describes it. @param template its path, with the document's names of parameters */
export function describeOperation(
  operation: Operation,
  template: string,
  components: SchemaComponents,
): JsonObject {
  const { id, path, summary, scope, isPublic } = operation;
  const scopes = [scope ?? []].flat();
  const alternatives = scopes.length > 0 ? scopes.map((one) => [one]) : [[]];
  const requestBody = describeBody(operation, components);
  return {
    operationId: id,
    tags: [path.split('/')[1] ?? ''],
    summary,
    description: isPublic ? 'No token is needed.' : describeScopes(scopes),
    security: isPublic
      ? []
      : [{ bearer: [] }, { access_token: [] }, ...alternatives.map((oauth2) => ({ oauth2 }))],
    parameters: parameters(operation, template, components),
    ...(requestBody && { requestBody }),
    responses: { ...successes(operation, components), ...failures(problemsOf(operation)) },
  };
}

function describeScopes(scopes: readonly string[]): string {
  if (scopes.length === 0) return 'Any token will do.';
  return `Requires the scope ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.`;
}

function describeBody(operation: Operation, components: SchemaComponents) {
  const { id, body, bodyTypes = ['application/json'], bodyIsOptional, example, rawBody } = operation;
  const schema = body
    ? components.named(`${toPascalCase(id)}Body`, {
        ...components.of(body, 'input'),
        ...(example !== undefined && { examples: [example as Json] }),
      })
    : rawBody && payloadsSchema(components);
  if (!schema) return undefined;
  return {
    required: !bodyIsOptional,
    ...(rawBody && { description: rawBody.description }),
    content: Object.fromEntries(bodyTypes.map((type) => [type, { schema }])),
  };
}

/**
 * Payloads that can be posted: of the built-in kinds, and of kinds that an account has added, which have schemas of
 * their own.
 */
function payloadsSchema(components: SchemaComponents): JsonObject {
  const builtIn = EVENT_KINDS.filter(({ emitted }) => !emitted);
  return {
    anyOf: [
      ...builtIn.map((kind) => payloadSchema(kind, components)),
      { description: "The payload of a kind that the account has added: valid against that kind's schema" },
    ],
  };
}

function successes(
  { responses, method, location, headers: taken = {} }: Operation,
  components: SchemaComponents,
): JsonObject {
  const tagged = 'If-None-Match' in taken || 'If-Match' in taken;
  const describeOne = (
    status: string,
    { description, schema, text, csv, lines }: ResponseDocument,
  ): JsonObject => ({
    description,
    headers: headers(
      ...(location && (status === '201' || status === '202') ? ['Location'] : []),
      ...(tagged && method !== 'delete' ? ['ETag'] : []),
    ),
    ...((schema || text || lines) && {
      content: {
        ...(schema && { 'application/json': { schema: components.of(schema, 'output') } }),
        ...(lines && { 'application/x-ndjson': { schema: components.of(lines, 'output') } }),
        ...(csv && { 'text/csv': { schema: { type: 'string', description: csv } } }),
        ...(text && { 'text/plain': { schema: { type: 'string', description: text } } }),
      },
    }),
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

/** The responses of failure that operations refer to. */
export function failureComponents(operations: readonly Operation[]): JsonObject {
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
            { $ref: '#/components/schemas/Problem' },
            {
              type: 'object',
              properties: {
                code: { type: 'string', enum: [...group] },
                status: { type: 'integer', enum: [status] },
              },
            },
          ],
        },
      },
    },
  };
}

function groupByStatus(codes: readonly ProblemCode[]): Map<number, ProblemCode[]> {
  return groupedBy(codes, (code) => PROBLEMS[code][0]);
}

function parameters(
  { path, query, isAboutAccounts, isPublic, headers: own = {} }: Operation,
  template: string,
  components: SchemaComponents,
): Json[] {
  const taken = {
    ...own,
    ...(!isAboutAccounts && !isPublic && { [ACCOUNT_HEADER]: ACCOUNT_HEADER_MEANING }),
  };
  const names = template.match(/(?<=:)\w+/g) ?? [];
  const inPath = [...path.matchAll(/(\w+)\/:(\w+)/g)].map(([, resource = '', name = ''], index) => ({
    name: names[index] ?? name,
    in: 'path',
    required: true,
    schema: { type: 'string', pattern: pathPattern(resource, name) },
  }));
  const shape = query ? components.of(query, 'input') : {};
  const required = (shape['required'] ?? []) as string[];
  const inQuery = Object.entries((shape['properties'] ?? {}) as JsonObject).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    // A list is joined by commas.
    ...((schema as JsonObject)['type'] === 'array' && { style: 'form', explode: false }),
    schema,
  }));
  const inHeaders = Object.entries(taken).map(([name, description]) => ({
    name,
    in: 'header',
    description,
    schema: { type: 'string', ...(name in HEADER_PATTERNS && { pattern: HEADER_PATTERNS[name] }) },
  }));
  return [...inPath, ...inQuery, ...inHeaders];
}

/** Patterns outside of which headers are refused. */
const HEADER_PATTERNS: Record<string, string> = {
  'Idempotency-Key': '^[\\x21-\\x7e]{1,255}$',
  [ACCOUNT_HEADER]: '^[A-Za-z0-9_.:@-]{0,128}$',
};

const ACCOUNT_HEADER_MEANING =
  'The account to act for, by id or reference: for tokens with the scope platform, which need it, or admin';

/** Kinds of ids, by the name of a resource in a path. */
const ID_KINDS: Record<string, IdKind> = {
  accounts: 'account',
  api_keys: 'api_key',
  endpoints: 'endpoint',
  events: 'event',
  oauth_clients: 'oauth_client',
  profiles: 'profile',
  changes: 'change',
};

function pathPattern(resource: string, name: string): string {
  if (name !== 'id') return '^[\\w.-]{1,256}$';
  const kind = ID_KINDS[resource];
  return kind ? idPattern(kind).source : DELIVERY_ID_PATTERN.source;
}
