import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const CHECKSUM_LENGTH = 6;

/** Tokens of one kind, which all begin alike. */
export class TokenKind {
  readonly prefix: string;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  /**
   * A new token: the prefix, 43 characters of 32 random bytes, and six of a checksum. Prefix and checksum let a scanner
   * tell a leaked token from a chance likeness, and the API refuse a mistyped one without a look-up.
   */
  make(): string {
    const random = randomBytes(32).toString('base64url');
    return this.prefix + random + checksum(this.prefix, random);
  }

  /**
   * Whether a text is a well-formed token of this kind with a right checksum. It does not say whether the token exists.
   */
  isOne(text: string): boolean {
    if (!text.startsWith(this.prefix)) return false;
    const match = /^([\w-]{43})([\w-]{6})$/.exec(text.slice(this.prefix.length));
    if (!match) return false;
    const [, random = '', given = ''] = match;
    return timingSafeEqual(Buffer.from(checksum(this.prefix, random)), Buffer.from(given));
  }
}

function checksum(prefix: string, random: string): string {
  return createHash('sha256')
    .update(prefix + random)
    .digest('base64url')
    .slice(0, CHECKSUM_LENGTH);
}
