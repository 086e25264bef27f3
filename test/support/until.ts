import { setTimeout as delay } from 'node:timers/promises';
import { withWarnings } from './warnings.js';

/** The first pause between two questions, and the longest, milliseconds. */
const POLL_MS = 20;
const SLOWEST_POLL_MS = 250;
/** The part of the time waited so far that the next pause takes: questions must not take the processor from what they wait for. */
const POLL_PART = 0.1;

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
  const began = Date.now();
  for (;;) {
    const value = await read();
    if (condition(value)) return value;
    const waited = Date.now() - began;
    if (waited > timeoutMs)
      throw new Error(withWarnings(`not so within ${timeoutMs} ms; last seen: ${JSON.stringify(value)}`));
    await delay(Math.min(Math.max(POLL_MS, waited * POLL_PART), SLOWEST_POLL_MS));
  }
}
