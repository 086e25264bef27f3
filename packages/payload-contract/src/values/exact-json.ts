import { parse } from 'lossless-json';
import { escapePointer } from '../json-pointer.js';
import { ExactNumber, mayLoseDigits, readNumber } from './exact-number.js';

/** Numbers that a double cannot represent, by the object or list that they are in and their name or index there. */
const exactNumbers = new WeakMap<object, Map<string, ExactNumber>>();

/** A parsed JSON text, as a member of an object of its own, so that it too is in something. */
export type Holder = Record<typeof ROOT, unknown>;
export const ROOT = '';

/**
 * Parses JSON in which numbers lose digits as doubles. In their place stands 0, or 0.5 for one that is not whole;
 * {@link exactIn} tells what they are.
 *
 * @param json a valid JSON text
 * @returns `undefined` if no number loses digits: then `JSON.parse` does
 * @throws RangeError if it is nested too deeply
 */
export function parseExactly(json: string): Holder | undefined {
  if (!mayLoseDigits(json)) return undefined;
  const holder: Holder = { [ROOT]: parseNumbers(json) };
  let isExact = false;
  const containers: object[] = [holder];
  for (let container = containers.pop(); container; container = containers.pop()) {
    const found = new Map<string, ExactNumber>();
    for (const [name, value] of Object.entries(container)) {
      if (value instanceof ExactNumber) found.set(name, value);
      else if (typeof value === 'object' && value !== null) containers.push(value);
    }
    if (found.size === 0) continue;
    isExact = true;
    exactNumbers.set(container, found);
    for (const [name, { isInteger }] of found) replace(container, name, isInteger ? 0 : 0.5);
  }
  return isExact ? holder : undefined;
}

/** The numbers in an object or a list that doubles cannot stand for, by name or index. */
export function exactIn(container: object): ReadonlyMap<string, ExactNumber> | undefined {
  return exactNumbers.get(container);
}

/**
 * Where a JSON text has numbers that lose digits as doubles, as JSON Pointers.
 *
 * @param json a valid JSON text
 * @throws RangeError if it is nested too deeply
 */
export function findLostDigits(json: string): string[] {
  if (!mayLoseDigits(json)) return [];
  const pointers: string[] = [];
  const places: [pointer: string, value: unknown][] = [['', parseNumbers(json)]];
  for (let place = places.pop(); place; place = places.pop()) {
    const [pointer, value] = place;
    if (value instanceof ExactNumber) pointers.push(pointer);
    else if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value))
        places.push([`${pointer}/${escapePointer(name)}`, inner]);
  }
  return pointers.reverse();
}

/** Parses JSON with numbers of another form. As `JSON.parse` does, of members of the same name the last one counts. */
export function parseNumbers(json: string, parseNumber: (text: string) => unknown = readNumber): unknown {
  return parse(json, undefined, { parseNumber, onDuplicateKey: ({ newValue }) => newValue });
}

/** Also a member named `__proto__`, which an assignment would not reach. */
function replace(container: object, name: string, value: number): void {
  Object.defineProperty(container, name, { value, writable: true, enumerable: true, configurable: true });
}
