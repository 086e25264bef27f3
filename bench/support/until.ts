import { setTimeout as delay } from 'node:timers/promises';

/** The time limit for a condition; after it, the run has failed. Milliseconds. */
const TIMEOUT_MS = 30_000;
const POLL_MS = 5;

/** Waits until something is so. @throws where that takes too long */
export async function until(
  condition: () => boolean | Promise<boolean>,
  timeoutMs = TIMEOUT_MS,
  pollMs = POLL_MS,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('not so in time');
    await delay(pollMs);
  }
}
