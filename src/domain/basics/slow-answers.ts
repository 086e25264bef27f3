import { LRUCache } from 'lru-cache';

/** An answer is given again for this long, milliseconds. */
const FRESH_MS = 1_000;
/**
 * One that took long is given for longer, this many times as long as it took, while a newer one is being made; but not
 * beyond the limit.
 */
const TIMES = 10;
const OLDEST_MS = 10_000;

interface Entry<T> {
  answer: Promise<T>;
  /** By `performance.now()`: no clock that somebody sets. */
  beganAt: number;
  /** How long it took; absent while it is being made. Milliseconds. */
  tookMs?: number;
  next?: Promise<T>;
}

/**
 * Answers to questions that may take long. Equal questions at the same time are asked once. Failures are not
 * remembered.
 */
export class SlowAnswers<T extends object> {
  private readonly entries: LRUCache<string, Entry<T>>;

  /** @param max questions whose answers are remembered */
  constructor(max: number) {
    this.entries = new LRUCache({ max, ttl: OLDEST_MS, ttlAutopurge: true });
  }

  get(question: string, ask: () => Promise<T>): Promise<T> {
    const known = this.entries.get(question);
    if (!known) return this.ask(question, ask);
    if (known.tookMs === undefined) return known.answer;
    const age = performance.now() - known.beganAt;
    if (age <= FRESH_MS) return known.answer;
    known.next ??= this.ask(question, ask, known);
    return age <= TIMES * known.tookMs ? known.answer : known.next;
  }

  /** @param previous is remembered until there is an answer */
  private ask(question: string, ask: () => Promise<T>, previous?: Entry<T>): Promise<T> {
    const entry: Entry<T> = { answer: ask(), beganAt: performance.now() };
    if (!previous) this.entries.set(question, entry);
    entry.answer.then(
      () => {
        entry.tookMs = performance.now() - entry.beganAt;
        this.entries.set(question, entry);
      },
      () => {
        if (this.entries.peek(question) === entry) this.entries.delete(question);
        if (previous) delete previous.next;
      },
    );
    return entry.answer;
  }
}
