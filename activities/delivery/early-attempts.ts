import type { AttemptReport } from '../../src/domain/attempt/attempt-report.js';
import { dropOldest } from '../../src/domain/basics/bounded-memory.js';
import type { AttemptOrder } from '../../src/domain/delivery/attempt-order.js';
import { attemptRequest } from '../../src/domain/delivery/attempt-request.js';
import type { ActivityDependencies, EarlyAttempts as Port } from '../ports.js';
import { directLane } from './side-by-side.js';

type Reports = (AttemptReport | null)[];

/** How many runs are remembered for which only one side has asked: more than a worker has workflow tasks under way. */
const MAX_CLAIMS = 1_000;

/**
 * First attempts in the direct lane. Two sides ask for each of them: the code that started the delivery, once Temporal
 * has persisted the start and has given the first workflow task to this process; and the workflow. The first to ask
 * makes the attempt, so that it need not wait until the workflow's code has run. The second gets the same report.
 */
export class EarlyAttempts implements Port {
  /** What the first side has begun, by run, until the second asks for it. */
  private readonly claims = new Map<string, Promise<Reports>>();
  private stopped = false;
  private readonly make: ActivityDependencies['attempt'];

  constructor(make: ActivityDependencies['attempt']) {
    this.make = make;
  }

  /**
   * Begins the first attempts of an execution that was started as this run.
   *
   * @param placed whether this process has just decided that all of them are made in the direct lane
   */
  begin(runId: string, orders: readonly AttemptOrder[], timeoutMs: number, placed: boolean): void {
    if (this.stopped && !this.claims.has(runId)) return;
    // The workflow gets an error when it asks; here nobody waits for the result.
    this.attempt(runId, orders, timeoutMs, placed).catch(() => {});
  }

  /** Stops beginning early attempts: the worker stops, so another one may get their workflows and make the attempts. */
  stop(): void {
    this.stopped = true;
  }

  /**
   * The attempts that a workflow asks for: those that have been begun for its run, or new ones. One that cannot be made
   * does not affect the others.
   *
   * @param placed see {@link begin}
   */
  attempt(
    runId: string,
    orders: readonly AttemptOrder[],
    timeoutMs: number,
    placed = false,
  ): Promise<Reports> {
    const claimed = this.claims.get(runId);
    if (claimed !== undefined) {
      this.claims.delete(runId);
      return claimed;
    }
    const made = directLane(orders, (order) =>
      this.make(attemptRequest(order, timeoutMs, placed ? { placed } : {})),
    );
    this.claims.set(runId, made);
    dropOldest(this.claims, MAX_CLAIMS);
    return made;
  }
}
