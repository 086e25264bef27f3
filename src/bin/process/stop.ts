const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Resolves when the process is told to stop. From then on a second signal ends it at once, for somebody who cannot wait.
 *
 * @param failed rejects where going on makes no sense
 */
export async function untilStopped(failed: Promise<never>): Promise<NodeJS.Signals> {
  const told = new Promise<NodeJS.Signals>((resolve) => {
    for (const signal of SIGNALS) process.once(signal, () => resolve(signal));
  });
  return Promise.race([told, failed]);
}
