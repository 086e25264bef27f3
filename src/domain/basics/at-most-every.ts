/**
 * Computes something at most once in a while, however often it is asked for: those who ask meanwhile, or soon after,
 * share what came of it, a failure included.
 *
 * @param ms since the computation began; one that takes longer is shared until it ends
 * @param now milliseconds on a clock that only goes forward
 */
export function atMostEvery<T>(
  ms: number,
  compute: () => Promise<T>,
  now: () => number = () => performance.now(),
): () => Promise<T> {
  let latest: { result: Promise<T>; began: number; isOver: boolean } | undefined;
  return () => {
    if (latest && (!latest.isOver || now() - latest.began < ms)) return latest.result;
    const computation = { result: compute(), began: now(), isOver: false };
    const end = () => {
      computation.isOver = true;
    };
    computation.result.then(end, end);
    latest = computation;
    return computation.result;
  };
}

/**
 * Does something when it is first asked for, and remembers what came of it. After a failure, the next who asks tries
 * again.
 */
export function once<T>(act: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => {
    done ??= act().catch((error: unknown) => {
      done = undefined;
      throw error;
    });
    return done;
  };
}
