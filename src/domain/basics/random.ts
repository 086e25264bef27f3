import { randomBytes } from 'node:crypto';

const POOL_BYTES = 4_096;

let pool = randomBytes(POOL_BYTES);
let used = 0;

/**
 * Random bytes for what is not secret by itself: nonces and ids. They come from a pool, because a call of the system
 * for a few bytes costs as much as encrypting a payload. No byte is handed out twice.
 *
 * @param count at most 4,096
 */
export function takeRandomBytes(count: number): Buffer {
  if (used + count > pool.length) {
    pool = randomBytes(POOL_BYTES);
    used = 0;
  }
  used += count;
  return pool.subarray(used - count, used);
}
