/**
 * The most bytes of a value that goes to Temporal as one payload: an input, a result, a signal. Temporal takes 2 MiB
 * (`limit.blobSize.error`), of which what an encryption adds, and the payload's metadata, leave at least this.
 */
export const MAX_VALUE_BYTES = 2 * 1024 * 1024 - 16 * 1024;

const encoder = new TextEncoder();

/** Bytes of a value as Temporal gets it: JSON in UTF-8, with what JSON escapes. */
export function encodedBytes(value: unknown): number {
  return encoder.encode(JSON.stringify(value)).length;
}
