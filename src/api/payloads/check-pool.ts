import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { inTurns } from '../../domain/access/in-turns.js';
import type { Owner } from '../../domain/access/owner.js';
import { UNITS } from '../../domain/basics/duration.js';
import { TimeoutError, withTimeout } from '../../domain/basics/with-timeout.js';
import { Problem } from '../../domain/http/problem.js';

/** Time for a check, from its request on, waiting for a thread included. Milliseconds. */
const LIMIT_MS = 7_000;
/** Threads by how long a check takes at most: what is quick does not wait for what is long. */
const THREADS = { quick: 1, long: 2 } as const;
/** How many checks of an account and of a platform may be under way: each keeps a payload in memory. */
export const MOST_CHECKS = { account: 100, platform: 200 } as const;

/** Run from the sources, threads load what was built: to compile TypeScript takes each of them a second. */
const FOLDER = extname(import.meta.url) === '.ts' ? '../../../dist/src/api/payloads' : '.';
const WORKER = fileURLToPath(new URL(`${FOLDER}/schema-worker.js`, import.meta.url));

/** A few threads for checks that would hold up the main one. */
export class CheckPool {
  private readonly quick = lane(THREADS.quick);
  private readonly long = lane(THREADS.long);
  /** Checks under way, by account and platform. */
  private readonly underWay = new Map<string, number>();
  private readonly limitMs: number;

  /** @param limitMs time for a check, from its request on */
  constructor(limitMs = LIMIT_MS) {
    this.limitMs = limitMs;
  }

  /**
   * Runs a function of the threads in its turn. One that takes too long is ended, with its thread.
   *
   * @param name of the function @param isQuick whether it takes 100 ms at most
   * @throws Problem 503 if it did not end in time, or too many of its owner are under way
   */
  async run<Task, Result>(owner: Owner, name: string, isQuick: boolean, task: Task): Promise<Result> {
    const leave = this.enter(owner);
    const { threads, inTurn } = isQuick ? this.quick : this.long;
    const ending = new AbortController();
    const { signal } = ending;
    const work = inTurn(owner, async () => {
      signal.throwIfAborted();
      return threads.run(task, { name, signal }) as Promise<Result>;
    });
    work.then(leave, leave);
    try {
      return await withTimeout(this.limitMs, work);
    } catch (error) {
      if (!(error instanceof TimeoutError)) throw error;
      ending.abort();
      throw unavailable('The service was too busy to finish the check in time.', 5);
    }
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await Promise.all([this.quick.threads.destroy(), this.long.threads.destroy()]);
  }

  /** Counts a check. @returns to be called when it is over @throws Problem 503 if there are too many */
  private enter({ account, platform }: Owner): () => void {
    const counted = [
      [`account ${account}`, MOST_CHECKS.account],
      [`platform ${platform}`, MOST_CHECKS.platform],
    ] as const;
    const countOf = (key: string) => this.underWay.get(key) ?? 0;
    if (counted.some(([key, most]) => countOf(key) >= most))
      throw unavailable('Too many payloads wait to be checked.', 1);
    for (const [key] of counted) this.underWay.set(key, countOf(key) + 1);
    return () => {
      for (const [key] of counted)
        if (countOf(key) > 1) this.underWay.set(key, countOf(key) - 1);
        else this.underWay.delete(key);
    };
  }
}

function lane(maxThreads: number) {
  const threads = new Piscina({ filename: WORKER, minThreads: 0, maxThreads, idleTimeout: UNITS.m });
  return { threads, inTurn: inTurns(maxThreads) };
}

function unavailable(reason: string, seconds: number): Problem {
  const headers = { 'retry-after': String(seconds) };
  return new Problem('unavailable', `${reason} Nothing was accepted; send it again.`, { headers });
}
