import type { z } from 'zod';
import { InvalidCursorError } from '../../errors.js';

/** The parts of a cursor as a text. */
export function encodeCursor(parts: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** The inverse of {@link encodeCursor}. @throws InvalidCursorError if the parts are not as they should be */
export function decodeCursor<T>(text: string, parts: z.ZodType<T>): T {
  try {
    return parts.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
  } catch {
    throw new InvalidCursorError();
  }
}
