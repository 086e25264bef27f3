import { Context } from '@temporalio/activity';
import type { AcceptedEvent, DeliveryGroup } from '../src/domain/delivery.js';
import type { AttemptReport, AttemptRequest, GroupAttemptRequest } from './ports.js';

/** A group's reports; `null` for an attempt that could not be made. */
export type GroupReport = (AttemptReport | null)[];

/** First attempts that only one has come for are remembered up to so many: more than a worker has workflow tasks under way. */
const MAX_REMEMBERED = 1_000;

/**
 * First attempts in the direct lane. Two come for each of them: whoever started the delivery, once Temporal has persisted that and has
 * given its first workflow task to this process, and then the workflow itself. The first makes it and the second is given the same
 * report, so that the attempt need not wait until the workflow's code has run.
 */
export class FirstAttempts {
  private readonly begun = new Map<string, Promise<unknown>>();
  private readonly attempt: (request: AttemptRequest) => Promise<AttemptReport>;

  constructor(attempt: (request: AttemptRequest) => Promise<AttemptReport>) {
    this.attempt = attempt;
  }

  /** Begins the attempt of a delivery that was started as this run. */
  begin(runId: string, event: AcceptedEvent, endpointId: string, timeoutMs: number): void {
    this.makeOnce(runId, () => this.attempt(firstAttempt(event, endpointId, timeoutMs))).catch(() => {
      // The workflow is told.
    });
  }

  /** Begins the attempts of a group that was started as this run. None of them rejects. */
  beginGroup(runId: string, { events, deliveries }: DeliveryGroup, timeout_ms: number): void {
    void this.makeOnce(runId, () => this.attemptSideBySide({ events, deliveries, timeout_ms }));
  }

  /** The activities through which workflows ask for attempts. */
  get activities() {
    return {
      /** Makes one attempt, in whichever lane. Throws where it could not be made. */
      attemptDelivery: async (request: AttemptRequest): Promise<AttemptReport> =>
        request.isolated ? this.attempt(request) : this.makeOnce(callersRunId(), () => this.attempt(request)),

      /** Makes the first attempts of a group side by side. One that could not be made takes nothing from the others. */
      attemptGroup: async (request: GroupAttemptRequest): Promise<GroupReport> =>
        this.makeOnce(callersRunId(), () => this.attemptSideBySide(request)),
    };
  }

  private attemptSideBySide({ events, deliveries, timeout_ms }: GroupAttemptRequest): Promise<GroupReport> {
    return Promise.all(
      deliveries.map(async ({ event, endpoint_id }) => {
        const accepted = events[event];
        if (!accepted) return null;
        return this.attempt(firstAttempt(accepted, endpoint_id, timeout_ms)).catch(() => null);
      }),
    );
  }

  private makeOnce<T>(runId: string, make: () => Promise<T>): Promise<T> {
    const begun = this.begun.get(runId);
    this.begun.delete(runId);
    if (begun !== undefined) return begun as Promise<T>;
    const made = make();
    this.begun.set(runId, made);
    const [oldest] = this.begun.keys();
    if (oldest !== undefined && this.begun.size > MAX_REMEMBERED) this.begun.delete(oldest);
    return made;
  }
}

/** What a delivery's first attempt is asked for with. */
function firstAttempt(
  { account_id, event_id, event_kind, payload }: AcceptedEvent,
  endpoint_id: string,
  timeout_ms: number,
): AttemptRequest {
  return {
    account_id,
    event_id,
    event_kind,
    payload,
    endpoint_id,
    number: 1,
    trigger: 'schedule',
    timeout_ms,
  };
}

function callersRunId(): string {
  const { workflowExecution } = Context.current().info;
  if (!workflowExecution) throw new Error('called by no workflow');
  return workflowExecution.runId;
}
