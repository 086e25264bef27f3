import { UNITS } from '../basics/duration.js';
import { sharedNow } from '../time/shared-time.js';
import { TokenKind } from './checked-token.js';
import { hashSecret } from './secret-hash.js';

const SIGN_IN_CODE = new TokenKind('hlsi_');
/** How long a code may be used, milliseconds: long enough to read what the first start has printed. */
export const SIGN_IN_WITHIN_MS = UNITS.h;

/** Person whom a code signs in, and the application. */
export interface SignIn {
  role: 'portal' | 'desk';
  account_id: string;
}

/**
 * Codes with which the person who started `hookline dev` opens the portal and the desk without a key: each may be used
 * once, and this process alone knows them.
 */
export class SignInCodes {
  /** By the code's hash: how long a look-up takes tells nothing about a code. */
  private readonly issued = new Map<string, SignIn & { until: number }>();

  private readonly now: () => number;

  constructor(now: () => number = sharedNow) {
    this.now = now;
  }

  issue(signIn: SignIn): string {
    const code = SIGN_IN_CODE.make();
    this.issued.set(hashSecret(code), { ...signIn, until: this.now() + SIGN_IN_WITHIN_MS });
    return code;
  }

  /** @returns whom it signs in; undefined if there is no such code, or it was used or is too old */
  take(code: string): SignIn | undefined {
    const hash = hashSecret(code);
    const found = this.issued.get(hash);
    this.issued.delete(hash);
    if (!found || found.until <= this.now()) return undefined;
    return { role: found.role, account_id: found.account_id };
  }
}

/** The address that signs in. The code is in the fragment, which browsers do not send, so that it reaches no log. */
export function signInUrl(publicUrl: string, role: SignIn['role'], code: string): string {
  return `${publicUrl}/${role}#code=${code}`;
}
