import { mongo } from 'mongoose';

/** MongoDB's code of the error. */
const DUPLICATE_KEY = 11_000;

/** Whether a write failed because another document has the same `_id`, or the same value in a unique index. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof mongo.MongoServerError && error.code === DUPLICATE_KEY;
}

/** Whether a document was made that is being made; `false` if another is there in its place. @throws any other error */
export async function wasMade(making: Promise<unknown>): Promise<boolean> {
  try {
    await making;
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}
