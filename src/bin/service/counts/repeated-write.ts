/**
 * Writes what a process has counted, again and again: one write at a time.
 *
 * @param write must not fail
 * @returns stops it, and writes what is left
 */
export function writeEach(intervalMs: number, write: () => Promise<void>): () => Promise<void> {
  let writing: Promise<void> | undefined;
  const timer = setInterval(() => {
    writing ??= write().finally(() => {
      writing = undefined;
    });
  }, intervalMs);
  return async () => {
    clearInterval(timer);
    await writing;
    await write();
  };
}
