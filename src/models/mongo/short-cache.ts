import { LRUCache } from 'lru-cache';
import { roomFor } from '../../domain/basics/bounded-memory.js';

/**
 * Remembers look-ups for moments, so that a busy key costs the database one look-up per moment. Equal look-ups under
 * way are shared. Failures are not remembered.
 */
export class ShortCache<T> {
  private readonly entries: LRUCache<string, Promise<T>>;

  /**
   * @param lifetime milliseconds, at least 1
   * @param maxEntries beyond which the entry that has not been used for longest makes room
   */
  constructor(lifetime: number, maxEntries = 10_000) {
    this.entries = new LRUCache({ ...roomFor(maxEntries), ttl: lifetime, ttlResolution: 0 });
  }

  get(key: string, load: () => Promise<T>): Promise<T> {
    return this.peek(key) ?? this.remember(key, load());
  }

  /** Remembered value of a key, or the look-up under way; `undefined` if there is neither. */
  peek(key: string): Promise<T> | undefined {
    return this.entries.get(key);
  }

  /**
   * Changes what is remembered of a key, as this process has changed it. It is not remembered for any longer, and
   * nothing new is.
   */
  change(key: string, change: (value: T) => T): void {
    const known = this.peek(key);
    if (known !== undefined) void this.remember(key, known.then(change), true);
  }

  /** Forgets one key: it has been changed by this process. */
  forget(key: string): void {
    this.entries.delete(key);
  }

  /** Forgets everything. */
  clear(): void {
    this.entries.clear();
  }

  private remember(key: string, value: Promise<T>, noUpdateTTL = false): Promise<T> {
    this.entries.set(key, value, { noUpdateTTL });
    value.catch(() => {
      if (this.entries.peek(key) === value) this.entries.delete(key);
    });
    return value;
  }
}
