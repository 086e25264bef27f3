/**
 * Reads the first of what is to be streamed, so that a failure of it is thrown here, where it can still be answered, and not once an answer of
 * success has begun.
 */
export async function begun<T>(items: AsyncIterable<T>): Promise<AsyncIterable<T>> {
  const iterator = items[Symbol.asyncIterator]();
  let first: IteratorResult<T> | undefined = await iterator.next();
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const next = first ?? (await iterator.next());
        first = undefined;
        return next;
      },
      return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
    }),
  };
}
