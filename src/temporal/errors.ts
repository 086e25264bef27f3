import { isGrpcServiceError, ServiceError } from '@temporalio/client';

/**
 * Errors of the ledger, for callers to tell apart by class. They are plain errors because activities throw them too; the HTTP
 * interface turns them into problems (`src/api/http/middleware/problems.ts`).
 */

/** This process has too much to start. Nothing was started; a later try may succeed. */
export class LedgerBusyError extends Error {
  override readonly name = 'LedgerBusyError';
}

/** Temporal's namespace has no room for what was to be listed or counted, and it has waited for as long as it may. A later try may succeed. */
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

/** No worker answered in time. What was asked for may still happen. */
export class NoWorkerError extends Error {
  override readonly name = 'NoWorkerError';
  /** How long the answer was waited for, milliseconds. */
  readonly waitedMs: number;

  constructor(waitedMs: number) {
    super(`No worker answered within ${waitedMs / 1_000} seconds.`);
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

/** The account has as many replays that are not over as it may have. */
export class TooManyReplaysError extends Error {
  override readonly name = 'TooManyReplaysError';

  constructor(limit: number) {
    super(`The account has ${limit} replays that are running or paused, which is the limit.`);
  }
}

/** Whether a call of the client failed with this gRPC code. */
export function failedWithCode(error: unknown, code: number): boolean {
  return error instanceof ServiceError && isGrpcServiceError(error.cause) && error.cause.code === code;
}

/** The error that means that visibility has no room, if it is that or was caused by it: Temporal's client wraps it. */
export function visibilityBusy(error: unknown): VisibilityBusyError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    // By its name: the class can be loaded twice where modules are compiled as they are imported.
    if (cause.name === 'VisibilityBusyError') return cause as VisibilityBusyError;
  return undefined;
}
