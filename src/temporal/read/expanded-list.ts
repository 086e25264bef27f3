import type { Client } from '@temporalio/client';
import { InvalidCursorError } from '../errors.js';
import { type Execution, listExecutions, type Page } from './visibility.js';

/** Where a page begins: after Temporal's token, in the row of that run, after so many of its items. */
interface Cursor {
  token: string;
  run_id: string;
  skip: number;
}

/**
 * A page of what executions stand for: one item each, or several where an execution is a group. A page may end in the middle of a group;
 * the next one goes on there.
 *
 * @param expand the items of an execution that the caller wants; none is allowed
 * @param keep of some of these items, those that are to be listed; asked of no more than `limit` at once
 * @param after the cursor of an earlier page
 * @throws InvalidCursorError where the cursor is not one of ours
 */
export async function listExpanded<T>(
  client: Client,
  clauses: readonly string[],
  {
    expand,
    keep = async (items) => items,
  }: { expand(execution: Execution): T[]; keep?(items: T[]): Promise<T[]> },
  limit: number,
  after: string | undefined,
): Promise<Page<T>> {
  let cursor = after === undefined ? undefined : decodeCursor(after);
  const data: T[] = [];
  for (;;) {
    const token = cursor?.token || undefined;
    const page = await listExecutions(client, clauses, limit, token);
    const places = page.data.flatMap((execution, index) => {
      const skip = index === 0 && execution.runId === cursor?.run_id ? cursor.skip : 0;
      return expand(execution)
        .map((item, place) => ({ item, index, run_id: execution.runId, place }))
        .slice(skip);
    });
    let next = 0;
    while (next < places.length && data.length < limit) {
      const some = places.slice(next, next + limit - data.length);
      data.push(...(await keep(some.map(({ item }) => item))));
      next += some.length;
    }
    const rest = places[next];
    if (rest) {
      // Temporal gives tokens for the ends of pages only: a page that ends right before this row gives the one that is needed.
      const before =
        rest.index === 0 ? token : (await listExecutions(client, clauses, rest.index, token)).after;
      return { data, after: encodeCursor({ token: before ?? '', run_id: rest.run_id, skip: rest.place }) };
    }
    if (page.after === undefined) return { data };
    cursor = { token: page.after, run_id: '', skip: 0 };
    if (data.length === limit) return { data, after: encodeCursor(cursor) };
  }
}

function encodeCursor({ token, run_id, skip }: Cursor): string {
  return Buffer.from(JSON.stringify([token, run_id, skip])).toString('base64url');
}

function decodeCursor(text: string): Cursor {
  try {
    const [token, run_id, skip] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    if (
      typeof token === 'string' &&
      typeof run_id === 'string' &&
      Number.isInteger(skip) &&
      Number(skip) >= 0
    ) {
      return { token, run_id, skip: Number(skip) };
    }
  } catch {
    // Not JSON: the same answer.
  }
  throw new InvalidCursorError();
}
