import { z } from 'zod';
import type { DeliveryFilter } from '../../domain/list/delivery-filter.js';
import { type ListedDelivery, POSITION, type RecordReads } from '../../domain/records/stored.js';
import { decodeCursor, encodeCursor } from './visibility/cursor.js';
import type { Page } from './visibility/visibility.js';

/** Rows that are read for one page: it ends with fewer items if not enough of them match. */
const MAX_EXAMINED = 500;

const CURSOR = z.tuple([z.string().regex(POSITION)]);

/** A page of rows that match, or of what is made of them. */
export interface RowPageRequest<T> {
  /** Absent: of all accounts. */
  accountId: string | undefined;
  filter: DeliveryFilter;
  limit: number;
  /** Cursor after the page before. */
  after: string | undefined;
  /** Rows to read at once, if so many items are still wanted. */
  atOnce(wanted: number): number;
  /** Items of some rows, in their order: of a row one, or none. */
  take(rows: readonly ListedDelivery[]): Promise<{ item: T; row: ListedDelivery }[]>;
}

/**
 * Reads a page. Not each row gives an item, so a page may have fewer items than its limit, or none, and a cursor.
 *
 * @throws InvalidCursorError
 */
export async function readRowPage<T>(
  records: Pick<RecordReads, 'deliveries'>,
  { accountId, filter, limit, after, atOnce, take }: RowPageRequest<T>,
): Promise<Page<T>> {
  let below = after === undefined ? undefined : decodeCursor(after, CURSOR)[0];
  const data: T[] = [];
  for (let examined = 0; ; ) {
    // One more than there is room for tells whether there is another page.
    const size = atOnce(limit - data.length + 1);
    const rows = await records.deliveries(accountId, filter, { below }, size);
    examined += rows.length;
    const items = await take(rows);
    const taken = items.slice(0, limit - data.length);
    data.push(...taken.map(({ item }) => item));
    if (taken.length < items.length) return { data, after: encodeCursor([taken.at(-1)?.row.position]) };
    if (rows.length < size) return { data };
    below = rows.at(-1)?.position;
    if (data.length === limit || examined >= MAX_EXAMINED) return { data, after: encodeCursor([below]) };
  }
}
