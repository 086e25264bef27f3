/** A number of a payload that no double stands for. */
export abstract class ExactValue {
  /** As it was written. */
  abstract readonly text: string;
  /** @returns below 0, 0 or above 0 */
  abstract compareTo(limit: number): number;
}

/** A JSON Pointer (RFC 6901), taken apart. */
export interface Path {
  pointer: string;
  names: readonly string[];
}

/** Shorter paths are followed as fast as they are remembered. */
const REMEMBERED_LEVELS = 3;

/** Takes a JSON Pointer apart. */
export function pathOf(pointer: string): Path {
  const names = pointer.split('/').slice(1);
  return { pointer, names: pointer.includes('~') ? names.map(unescapeName) : names };
}

function unescapeName(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** The values of one payload, each deep one looked up once however many filters ask for it. */
export class PayloadValues {
  private readonly payload: unknown;
  private readonly exactNumberAt: ExactNumberAt;
  private readonly found = new Map<string, unknown>();

  /**
   * @param payload parsed
   * @param exactNumberAt asked where the parsed payload has a number; absent: that is what it is
   */
  constructor(payload: unknown, exactNumberAt: ExactNumberAt = (_, number) => number) {
    this.payload = payload;
    this.exactNumberAt = exactNumberAt;
  }

  /** @param payload parsed, or its values */
  static of(payload: unknown): PayloadValues {
    return payload instanceof PayloadValues ? payload : new PayloadValues(payload);
  }

  /**
   * Value at a path; `undefined` for none. Own properties only, so that nothing of the language itself is ever reached.
   */
  at({ pointer, names }: Path): unknown {
    if (names.length < REMEMBERED_LEVELS) return this.read(names);
    const known = this.found.get(pointer);
    if (known !== undefined || this.found.has(pointer)) return known;
    const value = this.read(names);
    this.found.set(pointer, value);
    return value;
  }

  private read(names: readonly string[]): unknown {
    const value = lookUp(this.payload, names);
    return typeof value === 'number' ? this.exactNumberAt(names, value) : value;
  }
}

/** Exact number at a path: the double that was parsed, or the number that it does not represent. */
export type ExactNumberAt = (names: readonly string[], double: number) => number | ExactValue;

/** Value at a path of a parsed payload. */
export function lookUp(payload: unknown, names: readonly string[]): unknown {
  let value = payload;
  for (const name of names) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    // A list's own properties are its indexes, and its length, which is not in the JSON.
    if (name === 'length' && Array.isArray(value)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
