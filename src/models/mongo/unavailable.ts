import { Error as MongooseError, mongo } from 'mongoose';

/**
 * How the driver reports a connection that the server has just closed: as the socket does, not as an error of its own.
 */
const SOCKET_CLOSED = new Set(['EPIPE', 'ECONNRESET']);

/**
 * MongoDB's codes of errors that are over when a server has taken over from another, or enough of them are there again.
 * The operation may have been done all the same.
 */
const TEMPORARY_CODES: ReadonlySet<unknown> = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  50, // MaxTimeMSExpired
  64, // WriteConcernTimeout: done, but no majority has confirmed it in time
  89, // NetworkTimeout
  91, // ShutdownInProgress
  100, // UnsatisfiableWriteConcern: too few servers
  133, // FailedToSatisfyReadPreference
  134, // ReadConcernMajorityNotAvailableYet
  189, // PrimarySteppedDown
  262, // ExceededTimeLimit
  371, // UserWritesBlocked: by an operator, or by a service whose disk is nearly full
  9_001, // SocketException
  10_107, // NotWritablePrimary
  11_600, // InterruptedAtShutdown
  11_602, // InterruptedDueToReplStateChange
  13_435, // NotPrimaryNoSecondaryOk
  13_436, // NotPrimaryOrSecondary
]);

/** Labels that servers and the driver put on errors that are worth another try. */
const TEMPORARY_LABELS = ['RetryableWriteError', 'TransientTransactionError', 'SystemOverloadedError'];

/** Whether an error means that MongoDB is out of reach, or takes no writes, for the moment. */
export function isDatabaseUnavailable(error: unknown): boolean {
  // The driver wraps what a batch of writes ended with, whatever that is.
  if (error instanceof mongo.MongoBulkWriteError && error.errorResponse instanceof Error)
    return isDatabaseUnavailable(error.errorResponse);
  if (error instanceof mongo.MongoServerError && TEMPORARY_CODES.has(error.code)) return true;
  if (error instanceof mongo.MongoError && TEMPORARY_LABELS.some((label) => error.hasErrorLabel(label)))
    return true;
  return (
    error instanceof mongo.MongoNetworkError ||
    error instanceof mongo.MongoServerSelectionError ||
    error instanceof mongo.MongoNotConnectedError ||
    error instanceof mongo.MongoClientClosedError ||
    error instanceof MongooseError.MongooseServerSelectionError ||
    (error instanceof Error && SOCKET_CLOSED.has(String((error as NodeJS.ErrnoException).code)))
  );
}
