import { mongo } from 'mongoose';

const DUPLICATE_KEY = 11_000;

/** Whether an insert failed because there is such an `_id` already. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof mongo.MongoServerError && error.code === DUPLICATE_KEY;
}
