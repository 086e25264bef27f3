import { dropOldest } from '../../domain/basics/drop-oldest.js';

/**
 * Remembers look-ups for moments, so that a busy key costs the database one look-up per moment. Equal look-ups under way are shared.
 * What failed is not remembered.
 */
export class ShortCache<T> {
  private readonly entries = new Map<string, { value: Promise<T>; until: number }>();
  private readonly lifetime: number;
  private readonly maxEntries: number;

  /**
   * @param lifetime milliseconds
   * @param maxEntries beyond which the oldest entry makes room
   */
  constructor(lifetime: number, maxEntries = 10_000) {
    this.lifetime = lifetime;
    this.maxEntries = maxEntries;
  }

  get(key: string, load: () => Promise<T>): Promise<T> {
    const known = this.peek(key);
    if (known !== undefined) return known;
    const value = load();
    this.entries.delete(key);
    this.remember(key, value, Date.now() + this.lifetime);
    dropOldest(this.entries, this.maxEntries);
    return value;
  }

  /** What is remembered of a key, or about to be; `undefined` where it would have to be looked up. */
  peek(key: string): Promise<T> | undefined {
    const known = this.entries.get(key);
    return known && known.until > Date.now() ? known.value : undefined;
  }

  /** Changes what is remembered of a key, where something is, as this process has changed it; no longer than it would be remembered. */
  change(key: string, change: (value: T) => T): void {
    const known = this.entries.get(key);
    if (known && known.until > Date.now()) this.remember(key, known.value.then(change), known.until);
  }

  /** Forgets one key: it has been changed by this process. */
  forget(key: string): void {
    this.entries.delete(key);
  }

  private remember(key: string, value: Promise<T>, until: number): void {
    this.entries.set(key, { value, until });
    value.catch(() => {
      if (this.entries.get(key)?.value === value) this.entries.delete(key);
    });
  }
}
