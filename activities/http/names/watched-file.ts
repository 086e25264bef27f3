import { readFileSync, statSync } from 'node:fs';

/** How long a file is taken for unchanged, milliseconds. */
const LOOK_AGAIN_MS = 1_000;

/** A small local file, parsed when it is needed first, and again once it has changed. One that is not there, or cannot be read, is empty. */
export class WatchedFile<T> {
  private readonly path: string;
  private readonly parse: (text: string) => T;
  private readonly now: () => number;
  private parsed: { content: T; version: string } | undefined;
  private lookedAt = Number.NEGATIVE_INFINITY;

  constructor(path: string, parse: (text: string) => T, now: () => number = () => performance.now()) {
    this.path = path;
    this.parse = parse;
    this.now = now;
  }

  get content(): T {
    const now = this.now();
    if (this.parsed && now - this.lookedAt < LOOK_AGAIN_MS) return this.parsed.content;
    this.lookedAt = now;
    const version = this.versionOf();
    if (this.parsed?.version !== version) this.parsed = { content: this.parse(this.read()), version };
    return this.parsed.content;
  }

  private versionOf(): string {
    const found = statSync(this.path, { throwIfNoEntry: false });
    return found ? `${found.ino} ${found.mtimeMs} ${found.size}` : 'absent';
  }

  private read(): string {
    try {
      return readFileSync(this.path, 'utf8');
    } catch {
      return '';
    }
  }
}
