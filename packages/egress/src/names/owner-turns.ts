import { LRUCache } from 'lru-cache';

/** Account and platform that work is done for. */
export interface Owner {
  account: string;
  /** The platform that the account belongs to; the account itself if it belongs to none. */
  platform: string;
}

/** Accounts and platforms of which it is remembered whose turn was last. */
const MAX_REMEMBERED = 20_000;

/** Queue of an account. */
interface Line<T> {
  owner: Owner;
  /** When each of them began to wait, by any clock. */
  began: Map<T, number>;
}

/**
 * Decides which of the things that wait is next: the platform's whose turn is longest ago; of a platform's accounts
 * likewise; of an account's the one that began first. In queues of libraries an item has one place; here it may wait
 * for several owners, and goes with the first of them.
 */
export class OwnerTurns<T> {
  private readonly lines = new Map<string, Line<T>>();
  /** The number of the last turn of a platform or an account. */
  private readonly last = new LRUCache<string, number>({
    maxSize: MAX_REMEMBERED,
    sizeCalculation: () => 1,
  });
  private turns = 0;

  /** Something waits for an owner; for several, if it is added for each. @param began by any clock */
  add(item: T, owner: Owner, began: number): void {
    const key = `${owner.platform} ${owner.account}`;
    const line = this.lines.get(key) ?? { owner, began: new Map<T, number>() };
    if (!line.began.has(item)) line.began.set(item, began);
    this.lines.set(key, line);
  }

  private drop(item: T): void {
    for (const [key, { began }] of this.lines)
      if (began.delete(item) && began.size === 0) this.lines.delete(key);
  }

  /**
   * Takes what is next, and says for whom.
   *
   * @param mayGo whether an owner may have a turn now @returns `undefined` if nothing waits that may
   */
  next(mayGo: (owner: Owner) => boolean = () => true): { item: T; owner: Owner } | undefined {
    const lines = [...this.lines.values()].filter(({ owner }) => mayGo(owner));
    const line = first(lines, ({ owner: a }, { owner: b }) => this.compare(a, b));
    const [item] = first([...(line?.began ?? [])], ([, a], [, b]) => a - b) ?? [];
    if (!line || item === undefined) return undefined;
    this.drop(item);
    this.turns += 1;
    for (const key of keysOf(line.owner)) this.last.set(key, this.turns);
    return { item, owner: line.owner };
  }

  private compare(a: Owner, b: Owner): number {
    const [[platformOfA, accountOfA], [platformOfB, accountOfB]] = [keysOf(a), keysOf(b)];
    return (
      this.lastOf(platformOfA) - this.lastOf(platformOfB) || this.lastOf(accountOfA) - this.lastOf(accountOfB)
    );
  }

  private lastOf(key: string): number {
    return this.last.get(key) ?? 0;
  }
}

const keysOf = ({ platform, account }: Owner) => [`platform ${platform}`, `account ${account}`] as const;

/** The least of some, of equal ones that which stands first. */
function first<T>(some: readonly T[], compare: (a: T, b: T) => number): T | undefined {
  return some.reduce<T | undefined>(
    (least, one) => (least === undefined || compare(one, least) < 0 ? one : least),
    undefined,
  );
}
