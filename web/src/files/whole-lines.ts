const NEWLINE = 10;

/** Cuts bytes as they come into parts that end with a whole line. */
export class WholeLines {
  #rest: Uint8Array<ArrayBuffer>[] = [];

  /** Whether the last line that came is whole. */
  get isWhole(): boolean {
    return this.#rest.length === 0;
  }

  /** @returns the lines that are whole by now; undefined if there is none yet */
  take(chunk: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | undefined {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end === 0) {
      if (chunk.length > 0) this.#rest.push(chunk);
      return undefined;
    }
    const lines = joined([...this.#rest, chunk.subarray(0, end)]);
    this.#rest = end < chunk.length ? [chunk.subarray(end)] : [];
    return lines;
  }
}

/** How many lines are in bytes that end with a whole one. */
export function countLines(lines: Uint8Array): number {
  let count = 0;
  for (let at = lines.indexOf(NEWLINE); at !== -1; at = lines.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}

/** The last line of bytes that end with a whole one. */
export function lastLine(lines: Uint8Array): string {
  const end = lines.length - 1;
  const begin = end === 0 ? 0 : lines.lastIndexOf(NEWLINE, end - 1) + 1;
  return new TextDecoder().decode(lines.subarray(begin, end));
}

function joined(parts: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  const [first] = parts;
  if (parts.length === 1 && first) return first;
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
