import type { Query } from 'mongoose';
import { together } from '../../domain/basics/bounded-memory.js';

/** Documents that are dealt with together. */
const AT_ONCE = 200;

/**
 * Documents in the order of their ids, some at once. No cursor stays open while they are dealt with.
 *
 * @param find those whose `_id` meets a condition
 * @param after only those behind this id
 */
export async function* inOrder<D extends { _id: string }>(
  find: (id: { $gt: string }) => Query<unknown, D>,
  after = '',
  atOnce = AT_ONCE,
): AsyncIterable<D[]> {
  for (let last = after; ; ) {
    const some = await find({ $gt: last }).sort({ _id: 1 }).limit(atOnce).lean<D[]>();
    const newest = some.at(-1);
    if (!newest) return;
    yield some;
    last = newest._id;
  }
}

/** All that a query finds, in one pass, some at once. */
export function inOnePass<D>(query: Query<unknown, D>): AsyncIterable<D[]> {
  return together(query.lean<D[]>().cursor({ batchSize: AT_ONCE }) as AsyncIterable<D>, AT_ONCE);
}
