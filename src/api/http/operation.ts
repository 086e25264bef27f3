import Router from '@koa/router';
import { z } from 'zod';
import type { Scope } from '../../domain/access/api-key.js';
import type { ProblemCode } from '../../domain/http/problems.js';
import { isEmptyRequest, readBody, readQuery } from './body.js';
import { takeTurn } from './bounds/turns.js';
import { requireAccountNamed } from './caller/acting-account.js';
import { refusePortal, refuseReader, requireScope } from './caller/refusals.js';
import type { Context, Middleware, State } from './context.js';
import { answer, fieldsParameter, selectionIn } from './selected.js';
import { checkBody } from './validation.js';

/** Description of one response of an operation. */
export interface ResponseDocument {
  description: string;
  /** Shape of the JSON body; absent if there is none. */
  schema?: z.ZodType;
  /**
   * Description of the body as `text/plain`, for requests that ask for it, or always without a schema; absent if it is
   * JSON alone.
   */
  text?: string;
  /** Description of the body as `text/csv`, for requests that ask for it. */
  csv?: string;
  /** Shape of each line, if the body is newline-delimited JSON (`application/x-ndjson`). */
  lines?: z.ZodType;
}

/** Parameters of a path, by name. */
type ParamsOf<Path extends string> = Path extends `${infer Part}/${infer Rest}`
  ? ParamsOf<Part> & ParamsOf<Rest>
  : Path extends `:${infer Name}`
    ? Record<Name, string>
    : unknown;

/** Input of a handler besides Koa's context, checked. */
export interface Input<Query = unknown, Body = unknown, Path extends string = string> {
  /** The account that the caller acts for; empty without a token. */
  account_id: string;
  params: ParamsOf<Path>;
  query: Query;
  body: Body;
}

/** Input and responses of an operation, and the code that does it. */
interface Definition<Query extends z.ZodType, Body extends z.ZodType, Path extends string> {
  summary: string;
  /** Scope that the caller's token must have, or several scopes, one of which is enough; absent: any token will do. */
  scope?: Scope | readonly Scope[];
  /** Whether a platform need not name the account that it acts for. */
  isAboutAccounts?: true;
  /** Whether no token is needed; each request counts against its address. */
  isPublic?: true;
  /** Whether portal sessions may not use it, although they can have its scope. */
  closedToPortal?: true;
  /** Whether it is also for people who may only read, although its method is not GET. */
  openToReaders?: true;
  /** Shape of the query; a strict object. Absent if the operation takes no parameters. */
  query?: Query;
  /** Shape of the JSON body. Absent if it takes none, or reads the bytes itself. */
  body?: Body;
  /** Whether a request without a body stands for one with an empty object. */
  bodyIsOptional?: true;
  /** A valid body, for the document. */
  example?: unknown;
  /** Media types of the JSON body; absent: `application/json`. */
  bodyTypes?: readonly string[];
  /** Reads and checks the body in a way of its own. */
  readBody?: (ctx: Context) => Promise<unknown>;
  /** For an operation that reads the bytes itself: how the document describes them. */
  rawBody?: { description: string };
  /** Request headers that it uses, and what they mean. */
  headers?: Record<string, string>;
  /** Answers of success, by status. If there is one alone, it has its status. */
  responses: Record<number, ResponseDocument>;
  /** Route of the resource that `Location` names; its parameter is a field of the response. */
  location?: string;
  /** Whether the response has a secret, so that no cache may keep it. */
  isSecret?: true;
  /** Errors that it answers with, besides those that {@link problemsOf} derives from the rest of the declaration. */
  problems?: readonly ProblemCode[];
  /** @returns the body; `undefined` if there is none, or the context has it already */
  handle(input: Input<z.output<Query>, z.output<Body>, Path>, ctx: Context): Promise<unknown>;
}

/** One operation of the HTTP interface. Validation, authorization and the OpenAPI document are made from it. */
export interface Operation extends Definition<z.ZodType, z.ZodType, string> {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Below the version, with parameters as `:name`. */
  path: string;
  /** Name of the operation in the OpenAPI document, camelCase and unique. */
  id: string;
  /** Schema of the response, if the query parameter `fields` chooses what is returned of it. */
  selectable?: z.ZodType;
}

/** An unknown parameter is an error: its sender expects something of it. */
const NO_PARAMETERS = z.strictObject({});

/** Declares an operation, with the types of its handler taken from its path and its schemas. */
export function operation<Query extends z.ZodType, Body extends z.ZodType, const Path extends string>(
  method: Operation['method'],
  path: Path,
  id: string,
  definition: Definition<Query, Body, Path>,
): Operation {
  const { query = NO_PARAMETERS } = definition as { query?: z.ZodType };
  const selectable = method === 'get' ? selectableIn(definition.responses) : undefined;
  const isOpen = selectable && query instanceof z.ZodObject && !('fields' in query.shape);
  const selects = isOpen && {
    query: (query as z.ZodObject).safeExtend({ fields: fieldsParameter }),
    selectable,
    problems: [...(definition.problems ?? []), 'invalid_fields' as const],
  };
  return { method, path, id, ...definition, ...selects } as unknown as Operation;
}

/** The schema of a response whose fields can be chosen: of JSON that is not sent line by line. */
function selectableIn(responses: Record<number, ResponseDocument>): z.ZodType | undefined {
  const { schema, lines } = responses[200] ?? {};
  return lines ? undefined : schema;
}

/**
 * Answers operations. Each resource has a router of its own, so that a request is not compared with the paths of all of
 * them.
 */
export function answerOperations(operations: readonly Operation[]): Middleware {
  const routers = new Map<string, Router<State>>();
  for (const operation of operations) {
    const resource = operation.path.split('/')[1] ?? '';
    const router = routers.get(resource) ?? new Router<State>({ prefix: '/:version' });
    routers.set(resource, router);
    mount(router, operation);
  }
  const answers = new Map([...routers].map(([resource, router]) => [resource, answerWith(router)]));
  return (ctx, next) => {
    const [, , resource = ''] = ctx.path.split('/', 3);
    return answers.get(resource)?.(ctx, next) ?? next();
  };
}

function mount(router: Router<State>, operation: Operation): void {
  const { method, path, id, query, responses, location, isPublic, isSecret, selectable, handle } = operation;
  const [status, ...others] = Object.keys(responses);
  const [named = ''] = location?.match(/\w+$/) ?? [];
  router[method](path, async (ctx) => {
    ctx.state.operation = id;
    ctx.state.route = path;
    authorize(ctx, operation);
    await takeTurn(ctx, 'query', ctx.querystring.length);
    const input = {
      account_id: isPublic ? '' : ctx.state.caller.account_id,
      query: readQuery(ctx, query ?? NO_PARAMETERS),
      body: await bodyOf(ctx, operation),
      params: ctx.params,
    };
    if (others.length === 0) ctx.status = Number(status);
    if (isSecret) ctx.set('cache-control', 'no-store');
    const { fields } = input.query as { fields?: string };
    const selection = selectable && selectionIn(fields, selectable);
    const response = await handle(input, ctx);
    answer(ctx, response, selection);
    if (!location) return;
    const { [named]: value = '' } = response as Record<string, string>;
    ctx.set('location', pathTo(ctx, location, { [named]: value }));
  });
}

/**
 * The path of a resource in the version that was asked for, such as `/v18.0/events/evt_…`: what `Location` and links
 * say. It is built from the route of an operation, because the path that came may end with a slash, or have escapes.
 *
 * @param params what stands at the parameters of the route that are not the request's own
 */
export function pathTo(
  { params: own = {} }: Context,
  route: string,
  params: Record<string, string> = {},
): string {
  const all: Record<string, string> = { ...own, ...params };
  return `/:version${route}`.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(all[name] ?? ''));
}

/** @throws Problem if the caller may not use an operation */
function authorize(ctx: Context, operation: Operation): void {
  const { method, isPublic, isAboutAccounts, scope, closedToPortal, openToReaders } = operation;
  if (isPublic) return;
  if (method !== 'get' && !openToReaders) refuseReader(ctx);
  if (!isAboutAccounts) requireAccountNamed(ctx);
  if (scope) requireScope(ctx, scope);
  if (closedToPortal) refusePortal(ctx);
}

/** The checked body. */
async function bodyOf(
  ctx: Context,
  { body, bodyIsOptional, readBody: readOwn }: Operation,
): Promise<unknown> {
  if (readOwn) return readOwn(ctx);
  if (body && bodyIsOptional && isEmptyRequest(ctx)) return checkBody(body, {});
  return body && readBody(ctx, body);
}

/** The router's routes; if none takes the method, a 405 that lists the allowed methods. */
function answerWith(router: Router<State>): Middleware {
  const routes = router.routes() as unknown as Middleware; // it gives the context its parameters itself
  const allowed = router.allowedMethods() as unknown as Middleware;
  return (ctx, next) => routes(ctx, () => allowed(ctx, next));
}

/** Errors that every operation can answer with. */
const COMMON: readonly ProblemCode[] = ['invalid_request', 'rate_limited', 'internal_error', 'unavailable'];

/** Errors of operations that need a token. */
const OF_CALLERS: readonly ProblemCode[] = [
  'ambiguous_token',
  'missing_token',
  'malformed_token',
  'invalid_token',
  'expired_token',
  'revoked_token',
  'missing_scope',
  'not_acceptable',
];

/** Every error that an operation can answer with: its own, and those that follow from what it takes. */
export function problemsOf(operation: Operation): ProblemCode[] {
  const { method, path, body, rawBody, headers = {}, problems = [] } = operation;
  const { isPublic, closedToPortal, isAboutAccounts, openToReaders } = operation;
  const changes = method !== 'get';
  const takesBody = body !== undefined || rawBody !== undefined;
  return [
    ...new Set<ProblemCode>([
      ...COMMON,
      ...(isPublic ? [] : OF_CALLERS),
      ...(takesBody ? (['invalid_json', 'payload_too_large', 'unsupported_media_type'] as const) : []),
      ...(closedToPortal ? (['portal_refused'] as const) : []),
      ...(isAboutAccounts || isPublic ? [] : (['account_not_named', 'not_found'] as const)),
      ...(changes && !isPublic && !openToReaders ? (['read_only'] as const) : []),
      ...(changes && !isAboutAccounts ? (['account_state_conflict'] as const) : []),
      ...(path.includes('/:') ? (['not_found'] as const) : []),
      ...('If-Match' in headers ? (['precondition_failed'] as const) : []),
      ...problems,
    ]),
  ];
}
