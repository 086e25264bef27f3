import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { boundedQueue } from '../basics/bounded-queue.js';

/** Passwords of people who log in: shortest and longest, characters. */
export const PASSWORD_LENGTH = { min: 12, max: 256 } as const;

/** 32 MiB and about 0.2 s: the OWASP recommendation with N = 2^15. */
const COST = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 } as const satisfies ScryptOptions;
const HASH_BYTES = 32;
const SALT_BYTES = 16;

/**
 * Passwords that a process hashes at once, and that wait for it. Each takes 32 MiB, and one of the four threads that
 * look up names as well: without a limit, anybody who sends login forms could stop deliveries.
 */
const inTurn = boundedQueue({ running: 2, waiting: 8 });

const scryptOnce = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

const derive = (password: string, salt: Buffer, length: number, options: ScryptOptions): Promise<Buffer> =>
  inTurn(() => scryptOnce(password, salt, length, options));

/** A password as it is stored: scrypt with a salt of its own, and its cost. @throws QueueFullError */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password.normalize('NFKC'), salt, HASH_BYTES, COST);
  return written(salt, hash);
}

function written(salt: Buffer, hash: Buffer): string {
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64'), hash.toString('base64')].join('$');
}

const NOBODY = written(Buffer.alloc(SALT_BYTES), Buffer.alloc(HASH_BYTES));

/**
 * Whether a password is the one that was hashed. Without a hash it takes as long, so that the time does not tell
 * whether the person exists.
 *
 * @throws QueueFullError
 */
export async function matchesPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [, n, r, p, salt = '', hash = ''] = (stored ?? NOBODY).split('$');
  const expected = Buffer.from(hash, 'base64');
  const options = { N: Number(n), r: Number(r), p: Number(p), maxmem: COST.maxmem };
  const given = await derive(
    password.normalize('NFKC'),
    Buffer.from(salt, 'base64'),
    expected.length,
    options,
  );
  return timingSafeEqual(given, expected) && stored !== undefined;
}
