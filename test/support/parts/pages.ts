import assert from 'node:assert/strict';
import { DEFAULT_LIMIT } from '../../../src/api/http/paging.js';
import type { DeliverySummary } from '../../../src/domain/view/delivery-view.js';
import type { ApiClient } from '../api-client.js';

/**
 * Follows a list to its end.
 *
 * @param beforePage is called before each page is asked for, with its number from 1
 * @throws where a page is refused, or has more rows than it may
 */
export async function readAll<T = DeliverySummary>(
  client: ApiClient,
  path: string,
  beforePage: (page: number) => Promise<void> | void = () => {},
): Promise<T[]> {
  const limit = Number(new URL(path, client.url).searchParams.get('limit') ?? DEFAULT_LIMIT);
  const rows: T[] = [];
  let next: string | undefined = path;
  for (let page = 1; next !== undefined; page++) {
    await beforePage(page);
    const { status, json, text } = await client.request('GET', next);
    assert.equal(status, 200, text);
    assert.ok(json.data.length <= limit);
    rows.push(...json.data);
    next = json.paging.next;
  }
  return rows;
}
