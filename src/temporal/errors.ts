import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';

/**
 * Errors of what starts, reads and steers deliveries, for callers to tell apart by class. They are plain errors because
 * activities throw them too; the HTTP interface turns them into problems (`src/api/http/middleware/problems.ts`).
 */

/** This process has too much to start. Nothing was started; a later try may succeed. */
export class LedgerBusyError extends Error {
  override readonly name = 'LedgerBusyError';
}

/**
 * Temporal's namespace has no room for what was to be listed or counted, and it has waited for as long as it may. A
 * later try may succeed.
 */
export class VisibilityBusyError extends Error {
  override readonly name = 'VisibilityBusyError';

  /** @param perSecond the calls that are made in a second */
  constructor(perSecond: number) {
    super(
      `More is to be listed and counted than Temporal has room for: ${perSecond} calls a second (HOOKLINE_VISIBILITY_PER_SECOND).`,
    );
  }
}

/** The delivery is in a state that does not allow what was asked for. The message says why. */
export class DeliveryStateConflictError extends Error {
  override readonly name = 'DeliveryStateConflictError';
}

/** No worker answered in time. The operation may still take effect. */
export class NoWorkerError extends Error {
  override readonly name = 'NoWorkerError';
  /** How long the response was waited for, milliseconds. */
  readonly waitedMs: number;

  constructor(waitedMs: number) {
    super(`No worker responded within ${waitedMs / 1_000} seconds.`);
    this.waitedMs = waitedMs;
  }
}

/** The cursor was not issued by this list. */
export class InvalidCursorError extends Error {
  override readonly name = 'InvalidCursorError';

  constructor() {
    super('The cursor is not valid.');
  }
}

/** The replay is in a state that does not allow what was asked for. The message says why. */
export class ReplayStateConflictError extends Error {
  override readonly name = 'ReplayStateConflictError';
}

/** Result of an action on a delivery or a replay; `undefined` if its state does not allow it. */
export function unlessStateConflicts<R>(act: Promise<R>): Promise<R | undefined> {
  return act.catch((error: unknown) => {
    if (error instanceof DeliveryStateConflictError || error instanceof ReplayStateConflictError)
      return undefined;
    throw error;
  });
}

/** The account has as many replays that are not over as it may have. */
export class TooManyReplaysError extends Error {
  override readonly name = 'TooManyReplaysError';

  constructor(limit: number) {
    super(`The account has ${limit} replays that are running or paused, which is the limit.`);
  }
}

/** gRPC codes, https://grpc.io/docs/guides/status-codes/ */
export const GRPC = {
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

export type GrpcCode = (typeof GRPC)[keyof typeof GRPC];

/** Whether Temporal answered a call with one of these codes: its client wraps what the connection throws. */
export function hasCode(error: unknown, ...codes: GrpcCode[]): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if ('details' in cause && 'code' in cause && (codes as unknown[]).includes(cause.code)) return true;
  return false;
}

/**
 * Whether an error means that Temporal cannot be reached, does not answer or has no room at the moment: a later try may
 * succeed.
 */
export function isTemporalUnavailable(error: unknown): boolean {
  const { cancelled, deadlineExceeded, resourceExhausted, unavailable } = GRPC;
  // `cancelled` is what the SDK makes of a deadline that has passed.
  const isTemporary = hasCode(error, cancelled, deadlineExceeded, resourceExhausted, unavailable);
  return isTemporary || visibilityBusy(error) !== undefined;
}

/** Whether a workflow has been started by this; if not, it is running already, or has run. */
export async function startedNow(start: Promise<unknown>): Promise<boolean> {
  try {
    await start;
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

/** Result of a call to an execution; `undefined` if there is no such execution, or it has closed. */
export async function unlessGone<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** The error that means that visibility has no room, if it is that or was caused by it: Temporal's client wraps it. */
export function visibilityBusy(error: unknown): VisibilityBusyError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof VisibilityBusyError) return cause;
  return undefined;
}
