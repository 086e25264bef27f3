import { Context } from '@temporalio/activity';
import { dropOldest } from '../../src/domain/basics/drop-oldest.js';
import type { AttemptReport } from '../../src/domain/delivery/attempt-report.js';
import {
  type AttemptRequest,
  attemptRequest,
  FIRST_ATTEMPT,
} from '../../src/domain/delivery/attempt-request.js';
import type { AcceptedEvent, DeliveryGroup } from '../../src/domain/delivery/delivery.js';
import type { GroupAttemptRequest } from '../ports.js';
import { callerOf } from './caller.js';

/** A group's reports; `null` for an attempt that could not be made. */
export type GroupReport = (AttemptReport | null)[];

/** Runs that only one has come for are remembered up to so many: more than a worker has workflow tasks under way. */
const MAX_REMEMBERED = 1_000;

/**
 * First attempts in the direct lane. Two come for each of them: whoever started the delivery, once Temporal has persisted that and has
 * given its first workflow task to this process, and then the workflow itself. The first makes it; the second joins it, so that the
 * attempt need not wait until the workflow's code has run.
 */
export class FirstAttempts {
  /** Begun with the start, and not asked for yet. */
  private readonly begun = new Map<string, Promise<unknown>>();
  /** Asked for by the workflow before the start has said that it is there. */
  private readonly asked = new Set<string>();
  private stopped = false;
  private readonly attempt: (request: AttemptRequest) => Promise<AttemptReport>;

  constructor(attempt: (request: AttemptRequest) => Promise<AttemptReport>) {
    this.attempt = attempt;
  }

  /** Begins the attempt of a delivery that was started as this run. */
  begin(runId: string, event: AcceptedEvent, endpointId: string, timeoutMs: number): void {
    this.makeAhead(runId, () => this.attempt(attemptRequest(event, endpointId, timeoutMs, FIRST_ATTEMPT)));
  }

  /** Begins the attempts of a group that was started as this run. */
  beginGroup(runId: string, { events, deliveries }: DeliveryGroup, timeout_ms: number): void {
    this.makeAhead(runId, () => this.attemptSideBySide({ events, deliveries, timeout_ms }));
  }

  /** Begins none ahead any more: the worker stops, so another one may get their workflows, and make them. */
  stop(): void {
    this.stopped = true;
  }

  /** The activities through which workflows ask for attempts. */
  get activities() {
    return {
      /** Makes one attempt, in whichever lane. Throws where it could not be made. */
      attemptDelivery: async (request: AttemptRequest): Promise<AttemptReport> =>
        request.isolated
          ? this.attempt(request)
          : this.joinOrMake(callersRunId(), () => this.attempt(request)),

      /** Makes the first attempts of a group side by side. One that could not be made takes nothing from the others. */
      attemptGroup: async (request: GroupAttemptRequest): Promise<GroupReport> =>
        this.joinOrMake(callersRunId(), () => this.attemptSideBySide(request)),
    };
  }

  private attemptSideBySide({ events, deliveries, timeout_ms }: GroupAttemptRequest): Promise<GroupReport> {
    return Promise.all(
      deliveries.map(async ({ event, endpoint_id }) => {
        const accepted = events[event];
        if (!accepted) return null;
        return this.attempt(attemptRequest(accepted, endpoint_id, timeout_ms, FIRST_ATTEMPT)).catch(
          () => null,
        );
      }),
    );
  }

  private makeAhead(runId: string, make: () => Promise<unknown>): void {
    if (this.asked.delete(runId) || this.stopped) return;
    const made = make();
    // The workflow is told.
    made.catch(() => {});
    this.begun.set(runId, made);
    dropOldest(this.begun, MAX_REMEMBERED);
  }

  private joinOrMake<T>(runId: string, make: () => Promise<T>): Promise<T> {
    const begun = this.begun.get(runId);
    if (begun === undefined) {
      this.asked.add(runId);
      dropOldest(this.asked, MAX_REMEMBERED);
      return make();
    }
    this.begun.delete(runId);
    return begun as Promise<T>;
  }
}

function callersRunId(): string {
  return callerOf(Context.current().info).runId;
}
