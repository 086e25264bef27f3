/** An address that a name leads to. */
export interface ResolvedAddress {
  address: string;
  family: number;
}

/** Addresses of a name. */
export interface NameAnswer {
  addresses: readonly ResolvedAddress[];
  /** How long it may be kept, milliseconds; absent: it is not from DNS, and is looked up anew each time. */
  ttlMs?: number;
  /** The whole answer, if a part of it has not come yet; it never rejects. */
  whole?: Promise<NameAnswer>;
}

/** Asks for the addresses of a name. @throws UnresolvedNameError */
export type ResolveName = (hostname: string) => Promise<NameAnswer>;

/**
 * Why a name leads nowhere: it does not exist; it has no addresses, or too many; or DNS servers stayed silent, refused,
 * or failed.
 */
export type UnresolvedReason = 'not_found' | 'no_addresses' | 'too_many' | 'silent' | 'refused' | 'failed';

/** Results of DNS that are certain, in place of addresses. */
const KNOWN: ReadonlySet<UnresolvedReason> = new Set(['not_found', 'no_addresses', 'too_many']);

/** A name was looked up in vain. */
export class UnresolvedNameError extends Error {
  readonly code = 'ERR_EGRESS_DNS';
  readonly reason: UnresolvedReason;

  constructor(reason: UnresolvedReason) {
    super(`the name was looked up in vain: ${reason}`);
    this.name = 'UnresolvedNameError';
    this.reason = reason;
  }

  /** Whether DNS said so, and did not fail to say anything (RFC 9520, section 2). */
  get isKnown(): boolean {
    return KNOWN.has(this.reason);
  }
}
