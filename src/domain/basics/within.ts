/**
 * Waits for work, but not for long. The work itself goes on.
 *
 * @param ms how long it may take, milliseconds
 * @throws Error where it takes longer, or whatever the work rejects with
 */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
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
