import type { Client } from '@temporalio/client';
import { InvalidCursorError } from '../errors.js';
import type { Clause } from './query.js';
import { type Execution, listExecutions, type Page } from './visibility.js';

/** Where a page begins: in Temporal's page of that token; if its first row is that run, after that many of the run's items. */
interface Cursor {
  token: string;
  run_id: string;
  skip: number;
}

/**
 * A page of what executions stand for: one item each, or several if an execution is a group. A page may end in the middle of a group; the
 * next page continues there.
 *
 * @param expand the items of an execution that belong in the list; may be none
 * @param keep those of some items that are to be listed; receives at most `limit` items at once
 * @param after the cursor of an earlier page
 * @throws InvalidCursorError if the cursor did not come from this list
 */
export async function listExpanded<T>(
  client: Client,
  clauses: readonly Clause[],
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
    const items = page.data.flatMap((execution, row) => {
      const skip = row === 0 && execution.runId === cursor?.run_id ? cursor.skip : 0;
      return expand(execution)
        .map((item, index) => ({ item, row, run_id: execution.runId, index }))
        .slice(skip);
    });
    let next = 0;
    while (next < items.length && data.length < limit) {
      const some = items.slice(next, next + limit - data.length);
      data.push(...(await keep(some.map(({ item }) => item))));
      next += some.length;
    }
    const rest = items[next];
    if (rest) {
      // Temporal gives tokens only for the ends of pages: a page that ends right before this row gives the token that is needed.
      const before = rest.row === 0 ? token : (await listExecutions(client, clauses, rest.row, token)).after;
      return { data, after: encodeCursor({ token: before ?? '', run_id: rest.run_id, skip: rest.index }) };
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
