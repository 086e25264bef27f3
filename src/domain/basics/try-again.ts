import { setTimeout as delay } from 'node:timers/promises';

/** For how long, and how often, what has failed is tried again, milliseconds. */
const AGAIN = { forMs: 2_500, everyMs: 100 };

/** Repeats an act until it succeeds, for some seconds: a server that has just gone may be back in a moment. */
export async function tryAgain<T>(act: () => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + AGAIN.forMs; ; await delay(AGAIN.everyMs)) {
    try {
      return await act();
    } catch (error) {
      if (performance.now() >= deadline) throw error;
    }
  }
}
