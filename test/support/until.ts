import { setTimeout as delay } from 'node:timers/promises';
import { withWarnings } from './warnings.js';

const POLL_MS = 20;

/**
 * Asks again and again until the answer satisfies a condition. For what cannot be waited for by an event.
 *
 * @throws after the time limit, default 30 s, showing the last answer and the warnings of the run
 */
export async function until<T>(
  read: () => Promise<T> | T,
  condition: (value: T) => boolean,
  timeoutMs = 30_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (condition(value)) return value;
    if (Date.now() > deadline)
      throw new Error(withWarnings(`not so within ${timeoutMs} ms; last seen: ${JSON.stringify(value)}`));
    await delay(POLL_MS);
  }
}
