/** Items in arrays of a size, the last one shorter. */
export async function* together<T>(items: AsyncIterable<T>, size: number): AsyncIterable<T[]> {
  let some: T[] = [];
  for await (const item of items) {
    some.push(item);
    if (some.length < size) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}
