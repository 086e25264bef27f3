import { Error as MongooseError, mongo } from 'mongoose';

/** Whether an error means that MongoDB is out of reach for the moment. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return (
    error instanceof mongo.MongoNetworkError ||
    error instanceof mongo.MongoServerSelectionError ||
    error instanceof mongo.MongoNotConnectedError ||
    error instanceof mongo.MongoClientClosedError ||
    error instanceof MongooseError.MongooseServerSelectionError
  );
}
