import { z } from 'zod';
import type { Page } from '../../temporal/read/visibility/visibility.js';
import type { Context } from './context.js';
import { type Input, type Operation, operation, pathTo } from './operation.js';
import { pageOf } from './schemas.js';

/** Rows of a page, unless the caller says how many. */
export const DEFAULT_LIMIT = 25;

/** The query parameters of every list. */
export const pagingParameters = {
  limit: z.coerce.number().int().min(1).max(100).default(DEFAULT_LIMIT),
  after: z
    .string()
    .max(2_048)
    .regex(/^[\w-]+$/, 'must be a cursor that an earlier page of this list gave')
    .optional(),
};

/** Declares a list: an operation that answers with a page of rows. */
export function listOperation<const Path extends string, Shape extends z.ZodRawShape = Record<never, never>>(
  path: Path,
  id: string,
  {
    page: [description, row],
    parameters,
    read,
    ...others
  }: Omit<Parameters<typeof operation>[3], 'query' | 'body' | 'responses' | 'handle'> & {
    /** Description of the response, and the shape of a row, which has an id. */
    page: [description: string, row: z.ZodType];
    /** Query parameters, besides those of every list. */
    parameters?: Shape;
    /** @returns the page, or its rows, which were read one beyond the limit */
    read(
      input: Input<z.output<z.ZodObject<typeof pagingParameters & Shape>>, unknown, Path>,
      ctx: Context,
    ): Promise<Page<object> | readonly { id: string }[]>;
  },
): Operation {
  return operation('get', path, id, {
    ...others,
    query: z.strictObject({ ...pagingParameters, ...(parameters as Shape) }),
    responses: { 200: { description, schema: pageOf(row) } },
    async handle(input, ctx) {
      const found = await read(input as never, ctx);
      const { limit } = input.query as { limit: number };
      return renderPage(ctx, 'data' in found ? found : cutPage(found, limit));
    },
  });
}

/** A page as it is answered. `next` does not contain the access token. */
export function renderPage<T>(ctx: Context, page: Page<T>) {
  if (!page.after) return { data: page.data, paging: { cursors: {} } };
  const query = new URLSearchParams(ctx.querystring);
  query.delete('access_token');
  query.set('after', page.after);
  const path = pathTo(ctx, ctx.state.route ?? '');
  return { data: page.data, paging: { cursors: { after: page.after }, next: `${path}?${query}` } };
}

/** Makes a page of rows that were read one beyond the limit: the extra row says that more follow. */
export function cutPage<T extends { id: string }>(rows: readonly T[], limit: number): Page<T> {
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  return { data, ...(rows.length > limit && last && { after: last.id }) };
}
