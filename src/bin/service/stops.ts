import { setTimeout as delay } from 'node:timers/promises';
import { TimeoutError, withTimeout } from '../../domain/basics/with-timeout.js';

/** Functions that stop the parts of a process. */
export class Stops {
  private readonly stops: (() => unknown)[] = [];

  add(stop: () => unknown): void {
    this.stops.push(stop);
  }

  /**
   * Stops everything, one part after the other in the opposite order of their start, also after one that fails.
   *
   * @throws what the first of them threw
   */
  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (const stop of this.stops.splice(0).reverse()) {
      try {
        await stop();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Stops everything at the same time. */
  async runTogether(): Promise<void> {
    await Promise.all(this.stops.splice(0).map((stop) => stop()));
  }
}

/**
 * How long a process may take to stop, once it takes no requests any more: the time for an attempt, and 5 seconds.
 * Milliseconds.
 */
export function stopLimits(attemptTimeoutMs: number) {
  return {
    /** For everything. */
    allMs: attemptTimeoutMs + 5_000,
    /** For requests and attempts under way. An attempt of a group may wait for a slot before, for 2 s. */
    workMs: attemptTimeoutMs + 3_500,
    /** Time for requests and responses in progress on connections. */
    connections: { requestMs: 1_000, responseMs: attemptTimeoutMs + 3_000 },
    /**
     * For requests under way, before the worker stops as well: the deliveries of an event that is accepted meanwhile
     * are made by this process.
     */
    handOverMs: 500,
    /** For writing what is left, such as counts; during an outage it is dropped. */
    lastWritesMs: 1_000,
  };
}

/**
 * Waits for parts that stop, but not longer than so many milliseconds.
 *
 * @param what stops, for the error
 * @throws Error that says what has not ended, or what they reject with
 */
export async function stopWithin(ms: number, what: string, stopping: Promise<unknown>): Promise<void> {
  await withTimeout(ms, stopping).catch((error: unknown) => {
    if (!(error instanceof TimeoutError)) throw error;
    throw new Error(
      `${what} did not end within ${(ms / 1_000).toFixed(1).replace(/\.0$/, '')} s, and was left as it is.`,
      { cause: error },
    );
  });
}

/**
 * Stops what serves and what works at the same time: neither a client nor an attempt that takes long holds up the
 * other.
 */
export async function stopSideBySide(
  { workMs, handOverMs }: ReturnType<typeof stopLimits>,
  serves: Stops,
  works: Stops,
): Promise<void> {
  const served = serves.run();
  const settled = served.catch(() => {});
  const worked = Promise.race([settled, delay(handOverMs)]).then(() => works.run());
  await stopWithin(workMs, 'What was under way', Promise.all([served, worked]));
}
