import { z } from 'zod';
import type { Page } from '../../temporal/read/visibility/visibility.js';
import type { Context } from './context.js';
import { pathTo } from './operation.js';

/** Rows of a page: the default, and at most. */
export const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 100;

/** The query parameters of every list. */
export const pagingParameters = {
  limit: z.coerce.number().int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT),
  after: z
    .string()
    .max(2_048)
    .regex(/^[\w-]+$/, 'must be a cursor that an earlier page of this list gave')
    .optional(),
};

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
