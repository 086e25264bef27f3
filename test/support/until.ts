import { setTimeout as delay } from 'node:timers/promises';
import { withWarnings } from './warnings.js';

/**
 * How long tests wait for what must come, milliseconds: it says that something hangs, not how fast it should be. What
 * takes longer by its nature says so itself.
 */
export const WAIT_LIMIT_MS = 60_000;

/** So much of the last answer stands in a message. Characters of JSON. */
const MAX_SHOWN = 3_000;

/** The first pause between two questions, and the longest, milliseconds. */
const POLL_MS = 20;
const SLOWEST_POLL_MS = 500;
/**
 * The part of the time waited so far that the next pause takes at least, and how many times as long as the question it
 * is: questions must not take the processor from what they wait for. A list of a hundred deliveries takes a tenth of a
 * second.
 */
const POLL_PART = 0.2;
const POLL_TIMES = 2;

/**
 * Asks again and again until the answer satisfies a condition. For what cannot be waited for by an event.
 *
 * @throws after the time limit, default {@link WAIT_LIMIT_MS}, showing the last answer and the warnings of the run
 */
export async function until<T>(
  read: () => Promise<T> | T,
  condition: (value: T) => boolean,
  timeoutMs = WAIT_LIMIT_MS,
): Promise<T> {
  const began = Date.now();
  for (;;) {
    const asked = Date.now();
    const value = await read();
    if (condition(value)) return value;
    const waited = Date.now() - began;
    const pause = Math.max(POLL_MS, waited * POLL_PART, (Date.now() - asked) * POLL_TIMES);
    if (waited > timeoutMs) {
      const seen = String(JSON.stringify(value)).slice(0, MAX_SHOWN);
      throw new Error(withWarnings(`not so within ${timeoutMs} ms; last seen: ${seen}`));
    }
    await delay(Math.min(pause, SLOWEST_POLL_MS));
  }
}
