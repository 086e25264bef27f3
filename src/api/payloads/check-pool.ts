import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { UNITS } from '../../domain/basics/duration.js';
import { Problem } from '../../domain/http/problem.js';
import { FairQueue, type Job, LANES } from './fair-queue.js';
import type { Task, TaskResult } from './schema-worker.js';

/** From the request on, waiting for a thread included, milliseconds. */
const ANSWER_LIMIT_MS = 7_000;

/** Run from the sources, threads load what was built: to compile TypeScript takes each of them a second. */
const FOLDER = extname(import.meta.url) === '.ts' ? '../../../dist/src/api/payloads' : '.';
const WORKER = fileURLToPath(new URL(`${FOLDER}/schema-worker.js`, import.meta.url));

/** A task that waits, or runs, with whom to tell of its end. */
interface Waiting extends Job {
  task: Task;
  /** When it must have been answered, on the clock of `performance.now()`. */
  deadline: number;
  resolve: (result: TaskResult | { type: 'out_of_memory' }) => void;
  reject: (error: unknown) => void;
}

/** A few threads with limited heaps, for checks in the order of a {@link FairQueue}. */
export class CheckPool {
  private readonly pool: Piscina<Task, TaskResult>;
  /** For platforms that have used much lately. Threads of their own: only root may raise a priority again. */
  private readonly givingWay: Piscina<Task, TaskResult>;
  private readonly queue = new FairQueue<Waiting>();

  /**
   * @param heapMb heap of a thread, megabytes. A thread that needs more is ended, unless that happens while V8 reads a
   * message: then the whole process ends. A message is a schema and a payload, which are some hundred kilobytes at
   * most.
   */
  constructor(heapMb = 128) {
    this.pool = threads(LANES.schema + LANES.quick + LANES.long, heapMb);
    // A lower priority, where the system knows priorities of threads: they get a tenth of a processor that others want.
    this.givingWay = threads(LANES.spent, heapMb, 10);
  }

  /** Runs a task in its turn. @throws Problem 503 if that did not come in time, or too many wait */
  run(job: Job, task: Task): Promise<TaskResult | { type: 'out_of_memory' }> {
    return new Promise((resolve, reject) => {
      const waiting = { ...job, task, deadline: performance.now() + ANSWER_LIMIT_MS, resolve, reject };
      if (!this.queue.push(waiting)) {
        reject(busy());
        return;
      }
      setTimeout(() => {
        if (this.queue.drop(waiting)) reject(busy());
      }, ANSWER_LIMIT_MS).unref();
      this.start();
    });
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await Promise.all([this.pool.destroy(), this.givingWay.destroy()]);
  }

  private start(): void {
    for (let job = this.queue.next(performance.now()); job; job = this.queue.next(performance.now()))
      void this.perform(job);
  }

  private async perform(job: Waiting): Promise<void> {
    const { task, deadline, resolve, reject } = job;
    const began = performance.now();
    const leftMs = Math.max(1, Math.floor(deadline - began));
    const signal = AbortSignal.timeout(leftMs);
    const pool = this.queue.isSpent(job) ? this.givingWay : this.pool;
    try {
      resolve(await pool.run({ ...task, limitMs: Math.min(task.limitMs, leftMs) }, { signal }));
    } catch (error) {
      if (signal.aborted) reject(tooSlow());
      else if (isOutOfMemory(error)) resolve({ type: 'out_of_memory' });
      else reject(error);
    } finally {
      const now = performance.now();
      this.queue.end(job, now - began, now);
      this.start();
    }
  }
}

function threads(maxThreads: number, heapMb: number, niceIncrement = 0): Piscina<Task, TaskResult> {
  const pool = new Piscina<Task, TaskResult>({
    filename: WORKER,
    minThreads: 0,
    maxThreads,
    niceIncrement,
    idleTimeout: UNITS.m,
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  });
  // A thread that runs out of heap while it has no task, such as one that was given up, would end the process. The next
  // task gets a new one.
  pool.on('error', () => {});
  return pool;
}

/** For a check that this machine was too slow for: another time, or another process, will do. */
export function tooSlow(): Problem {
  return unavailable('The service was too busy to finish the check in time.', 5);
}

function busy(): Problem {
  return unavailable('Too many payloads wait to be checked.', 1);
}

function unavailable(reason: string, seconds: number): Problem {
  const headers = { 'retry-after': String(seconds) };
  return new Problem('unavailable', `${reason} Nothing was accepted; send it again.`, { headers });
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
