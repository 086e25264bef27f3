import { Error as MongooseError, mongo } from 'mongoose';

/** How the driver reports a connection that the server has just closed: as the socket does, not as an error of its own. */
const SOCKET_CLOSED = new Set(['EPIPE', 'ECONNRESET']);

/** Whether an error means that MongoDB is out of reach for the moment. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return (
    error instanceof mongo.MongoNetworkError ||
    error instanceof mongo.MongoServerSelectionError ||
    error instanceof mongo.MongoNotConnectedError ||
    error instanceof mongo.MongoClientClosedError ||
    error instanceof MongooseError.MongooseServerSelectionError ||
    (error instanceof Error && SOCKET_CLOSED.has(String((error as NodeJS.ErrnoException).code)))
  );
}
