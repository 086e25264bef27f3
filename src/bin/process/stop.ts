const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * From now on the first SIGINT or SIGTERM does not end the process but aborts what this returns; its name is the
 * reason. A second one ends the process at once, for somebody who cannot wait.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const told = (signal: NodeJS.Signals) => {
    for (const name of SIGNALS) process.removeListener(name, told);
    controller.abort(signal);
  };
  for (const name of SIGNALS) process.on(name, told);
  return controller.signal;
}

/** Resolves once a signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/**
 * Resolves when the process is told to stop, as {@link stopSignal} has it.
 *
 * @param failed rejects where going on makes no sense
 */
export async function untilStopped(failed: Promise<never>): Promise<NodeJS.Signals> {
  const signal = stopSignal();
  await Promise.race([aborted(signal), failed]);
  return signal.reason as NodeJS.Signals;
}
