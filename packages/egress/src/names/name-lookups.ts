import { LRUCache } from 'lru-cache';
import { deadline } from '../deadline.js';
import { FailingPath } from './failing-path.js';
import { type ResolvedAddress, type ResolveName, UnresolvedNameError } from './name-answer.js';
import type { Owner } from './owner-turns.js';

/**
 * How long a look-up may take, milliseconds: a little less than an attempt, so that a delivery says that it was DNS.
 */
const LOOKUP_LIMIT_MS = 4_500;
/** The longest for which an answer is kept, milliseconds, whatever its TTL says. */
const MAX_TTL_MS = 300_000;
/** How long it is kept that a name leads nowhere, milliseconds: Node.js does not tell the TTL of that (RFC 2308). */
const KNOWN_NOWHERE_MS = 5_000;
/**
 * How long a failure is kept, milliseconds: it doubles with each one (RFC 9520, section 3.2, which allows five
 * minutes).
 */
const FAILED_MS = 5_000;
const MAX_FAILED_MS = 60_000;
/** A name that has not failed for so long is as good as any other. Milliseconds. */
const FORGIVEN_MS = 600_000;
/** Names that are kept, and addresses of all names together. */
const MAX_NAMES = 10_000;
const MAX_ADDRESSES = 50_000;

/** Addresses of a name, and until when they are good, by `performance.now()`; absent: nobody knows. */
export interface ResolvedName {
  addresses: readonly ResolvedAddress[];
  expiresAt?: number;
}

/** The platform that an account belongs to; `undefined` if it belongs to none. */
export type PlatformOf = (account: string) => Promise<string | undefined>;

type Known = ResolvedName | UnresolvedNameError;

/**
 * Looks names up, each of them once at a time, however many ask for it, and keeps what it learns for as long as DNS
 * says. Failures are kept, too; such names are then looked up on a path of their own, a few at a time, in turns: a name
 * that DNS answers for never waits for one that it does not, and nobody waits for another's. It keeps answers, not
 * decisions: the caller decides each time which addresses a connection may go to.
 */
export class NameLookups {
  private readonly resolveName: ResolveName;
  private readonly known = new LRUCache<string, Known>({
    max: MAX_NAMES,
    maxSize: MAX_ADDRESSES,
    sizeCalculation: (known) => ('addresses' in known ? Math.max(1, known.addresses.length) : 1),
    ttlResolution: 0,
  });
  private readonly underWay = new Map<string, Promise<ResolvedName>>();
  /** How often names have failed in a row. */
  private readonly failures = new LRUCache<string, number>({ max: MAX_NAMES, ttl: FORGIVEN_MS });
  private readonly failingPath = new FailingPath();
  private readonly platformOf: PlatformOf;

  constructor(resolveName: ResolveName, platformOf: PlatformOf = async () => undefined) {
    this.resolveName = resolveName;
    this.platformOf = platformOf;
  }

  /** @param account for which it is looked up; absent: for the installation @throws UnresolvedNameError */
  async resolve(hostname: string, account = ''): Promise<ResolvedName> {
    const name = hostname.toLowerCase();
    const known = this.known.get(name);
    if (known instanceof UnresolvedNameError) throw known;
    if (known) return known;
    const underWay = this.underWay.get(name);
    if (!underWay) return this.begin(name, account);
    if (this.failingPath.holds(name)) this.failingPath.share(name, await this.ownerOf(account));
    return underWay;
  }

  private begin(name: string, account: string): Promise<ResolvedName> {
    const underWay = (this.failures.has(name) ? this.inTurn(name, account) : this.lookUp(name)).finally(() =>
      this.underWay.delete(name),
    );
    this.underWay.set(name, underWay);
    return underWay;
  }

  private async inTurn(name: string, account: string): Promise<ResolvedName> {
    const owner = await this.ownerOf(account);
    return new Promise((resolve, reject) => {
      this.failingPath.add(name, owner, async () => {
        await this.lookUp(name).then(resolve, reject);
      });
    });
  }

  /** An account whose platform cannot be read is taken for one without a platform. */
  private async ownerOf(account: string): Promise<Owner> {
    const platform = await this.platformOf(account).catch(() => undefined);
    return { account, platform: platform ?? account };
  }

  private async lookUp(name: string): Promise<ResolvedName> {
    try {
      const answer = await inTime(this.resolveName(name));
      this.failures.delete(name);
      answer.whole?.then(
        (whole) => this.keep(name, whole.addresses, whole.ttlMs),
        () => {},
      );
      return this.keep(name, answer.addresses, answer.ttlMs);
    } catch (error) {
      const unresolved = error instanceof UnresolvedNameError ? error : new UnresolvedNameError('failed');
      this.known.set(name, unresolved, { ttl: this.failed(name, unresolved) });
      throw unresolved;
    }
  }

  private keep(name: string, addresses: readonly ResolvedAddress[], ttlMs: number | undefined): ResolvedName {
    if (ttlMs === undefined) return { addresses };
    const ttl = Math.min(ttlMs, MAX_TTL_MS);
    const resolved = { addresses, expiresAt: performance.now() + ttl };
    // With a TTL of 0, an answer is for those alone who wait for it (RFC 1035, section 3.2.1).
    if (ttl > 0) this.known.set(name, resolved, { ttl });
    return resolved;
  }

  /** @returns how long a failure is kept, milliseconds */
  private failed(name: string, { isKnown }: UnresolvedNameError): number {
    if (isKnown) {
      this.failures.delete(name);
      return KNOWN_NOWHERE_MS;
    }
    const before = this.failures.get(name) ?? 0;
    this.failures.set(name, before + 1);
    return Math.min(FAILED_MS * 2 ** before, MAX_FAILED_MS);
  }
}

/** @throws UnresolvedNameError if it takes longer than a look-up may */
function inTime<T>(looking: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const callOff = deadline(LOOKUP_LIMIT_MS, () => reject(new UnresolvedNameError('silent')));
    looking.then(resolve, reject).finally(callOff);
  });
}
