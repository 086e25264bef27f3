import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** Passwords of people who log in: shortest and longest, characters. */
export const PASSWORD_LENGTH = { min: 12, max: 256 } as const;

/** 32 MiB and some 0.2 s: the OWASP recommendation with N = 2^15. */
const COST = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 } as const satisfies ScryptOptions;
const HASH_BYTES = 32;
const SALT_BYTES = 16;

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** A password as it is stored: scrypt with a salt of its own, and the cost that it was made with. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password.normalize('NFKC'), salt, HASH_BYTES, COST);
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64'), hash.toString('base64')].join('$');
}

/**
 * Whether a password is the one that was hashed. Without a hash it works as long for nothing, so that the time taken does not tell
 * whether there is such a person.
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

const NOBODY = [
  'scrypt',
  COST.N,
  COST.r,
  COST.p,
  Buffer.alloc(SALT_BYTES).toString('base64'),
  Buffer.alloc(HASH_BYTES).toString('base64'),
].join('$');
