/**
 * Waits for work, but not longer than a limit. The work itself is not stopped.
 *
 * @param ms the limit, milliseconds
 * @throws Error if the work takes longer, or whatever the work rejects with
 */
export async function withTimeout<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
