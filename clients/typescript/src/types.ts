import type { Client, ClientPathsWithMethod, MaybeOptionalInit, MethodResponse } from 'openapi-fetch';
import type { components, paths } from './schema.js';

export type { components, operations, paths } from './schema.js';

/** Schemas of the API by name: `Schemas['Endpoint']`. */
export type Schemas = components['schemas'];

/** Client of responses as JSON; some responses can be requested as text, too. */
type JsonClient = Client<paths, 'application/json'>;

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The paths that have a method, as the OpenAPI document writes them: `/v18.0/endpoints/{id}`. */
export type PathsWith<M extends Method> = ClientPathsWithMethod<JsonClient, M>;

/** Body of a successful response; undefined for a response without one. */
export type AnswerOf<M extends Method, Path extends PathsWith<M>> = [
  MethodResponse<JsonClient, M, Path>,
] extends [never]
  ? undefined
  : MethodResponse<JsonClient, M, Path>;

/** The second argument, which may be left out if nothing in it is required. */
type InitArgument<Init> = undefined extends Init ? [init?: Init] : [init: Init];

/** Calls one operation. @throws {HooklineError} {HooklineConnectionError} */
export type Call<M extends Method> = <Path extends PathsWith<M>>(
  path: Path,
  ...init: InitArgument<MaybeOptionalInit<paths[Path], M>>
) => Promise<AnswerOf<M, Path>>;

/** The paths that answer a page of a list. */
export type ListPath = {
  [Path in PathsWith<'get'>]: AnswerOf<'get', Path> extends { data: unknown[]; paging: unknown }
    ? Path
    : never;
}[PathsWith<'get'>];

export type ItemOf<Path extends ListPath> =
  AnswerOf<'get', Path> extends { data: (infer Item)[] } ? Item : never;

/** Filters of a list, besides the cursor, which the client keeps. */
export type QueryOf<Path extends ListPath> = paths[Path] extends {
  get: { parameters: { query?: infer Query } };
}
  ? Omit<NonNullable<Query>, 'after'>
  : never;
