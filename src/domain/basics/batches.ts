import pLimit from 'p-limit';

/**
 * Works in batches, one at a time: what comes while one is under way goes into the next, as a database commits waiting
 * transactions together.
 *
 * @param fits whether a batch has room for one more
 * @returns adds an item; resolves when its batch is done, and rejects if that fails
 */
export function inBatches<T>(
  act: (batch: readonly T[]) => Promise<void>,
  fits: (batch: readonly T[], item: T) => boolean,
): (item: T) => Promise<void> {
  const limit = pLimit(1);
  let next: { items: T[]; done: Promise<void> } | undefined;
  const begin = () => {
    const items: T[] = [];
    const done = limit(() => {
      if (next?.items === items) next = undefined;
      return act(items);
    });
    return { items, done };
  };
  return (item) => {
    if (!next || !fits(next.items, item)) next = begin();
    next.items.push(item);
    return next.done;
  };
}
