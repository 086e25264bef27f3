/** A JSON Pointer (RFC 6901), taken apart. */
interface Path {
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
  private readonly found = new Map<string, unknown>();

  /** @param payload parsed */
  constructor(payload: unknown) {
    this.payload = payload;
  }

  /** What stands at a path; `undefined` for nothing. Own properties only, so that nothing of the language itself is ever reached. */
  at({ pointer, names }: Path): unknown {
    if (names.length < REMEMBERED_LEVELS) return lookUp(this.payload, names);
    const known = this.found.get(pointer);
    if (known !== undefined || this.found.has(pointer)) return known;
    const value = lookUp(this.payload, names);
    this.found.set(pointer, value);
    return value;
  }
}

function lookUp(payload: unknown, names: readonly string[]): unknown {
  let value = payload;
  for (const name of names) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    // A list's own properties are its indexes, and its length, which is not in the JSON.
    if (name === 'length' && Array.isArray(value)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
