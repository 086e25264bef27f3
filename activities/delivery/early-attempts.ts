import { dropOldest } from '../../src/domain/basics/bounded-memory.js';
import type { AttemptReport } from '../../src/domain/delivery/attempt-report.js';
import {
  type AttemptRequest,
  attemptRequest,
  FIRST_ATTEMPT,
  memberAttemptRequest,
} from '../../src/domain/delivery/attempt-request.js';
import type { AcceptedEvent, DeliveryGroup } from '../../src/domain/delivery/delivery.js';
import type { ActivityDependencies, GroupAttemptRequest, EarlyAttempts as Port } from '../ports.js';
import { directLane } from './side-by-side.js';

/** How many runs are remembered for which only one side has asked: more than a worker has workflow tasks under way. */
const MAX_CLAIMS = 1_000;

/**
 * First attempts in the direct lane. Two sides ask for each of them: the code that started the delivery, once Temporal has persisted the
 * start and has given the first workflow task to this process; and the workflow. The first to ask makes the attempt, so that it need not
 * wait until the workflow's code has run. The second gets the same report.
 */
export class EarlyAttempts implements Port {
  /** What the first side has begun, by run, until the second asks for it. */
  private readonly claims = new Map<string, Promise<unknown>>();
  private stopped = false;
  private readonly make: ActivityDependencies['attempt'];

  constructor(make: ActivityDependencies['attempt']) {
    this.make = make;
  }

  /** Begins the attempt of a delivery that was started as this run. */
  begin(runId: string, event: AcceptedEvent, endpointId: string, timeoutMs: number): void {
    this.beginWith(runId, () => this.make(attemptRequest(event, endpointId, timeoutMs, FIRST_ATTEMPT)));
  }

  /** Begins the attempts of a group that was started as this run. */
  beginGroup(runId: string, { events, deliveries }: DeliveryGroup, timeout_ms: number): void {
    this.beginWith(runId, () => this.makeSideBySide({ events, deliveries, timeout_ms }));
  }

  /** Stops beginning early attempts: the worker stops, so another one may get their workflows and make the attempts. */
  stop(): void {
    this.stopped = true;
  }

  /** The attempt that a workflow asks for: the one that has been begun for its run, or a new one. */
  async attempt(runId: string, request: AttemptRequest): Promise<AttemptReport> {
    return this.claim(runId, () => this.make(request));
  }

  /** The attempts that a group's workflow asks for. One that cannot be made does not affect the others. */
  async attemptGroup(runId: string, request: GroupAttemptRequest): Promise<(AttemptReport | null)[]> {
    return this.claim(runId, () => this.makeSideBySide(request));
  }

  private beginWith(runId: string, make: () => Promise<unknown>): void {
    if (this.stopped && !this.claims.has(runId)) return;
    // The workflow gets an error when it asks; here nobody waits for the result.
    this.claim(runId, make).catch(() => {});
  }

  private claim<T>(runId: string, make: () => Promise<T>): Promise<T> {
    const claimed = this.claims.get(runId);
    if (claimed !== undefined) {
      this.claims.delete(runId);
      return claimed as Promise<T>;
    }
    const made = make();
    this.claims.set(runId, made);
    dropOldest(this.claims, MAX_CLAIMS);
    return made;
  }

  private makeSideBySide({
    timeout_ms,
    lost_tries: lostTries,
    ...group
  }: GroupAttemptRequest): Promise<(AttemptReport | null)[]> {
    return directLane([...group.deliveries.keys()], async (index) => {
      const request = memberAttemptRequest(group, timeout_ms, { index, ...FIRST_ATTEMPT, lostTries });
      return request ? this.make(request) : null;
    });
  }
}
