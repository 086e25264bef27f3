import { type ExactNumberAt, lookUp, PayloadValues } from '../../filter/payload-values.js';
import { parseNumbers } from './exact-json.js';
import { type ExactNumber, mayLoseDigits, readNumber } from './exact-number.js';

/**
 * The values of a payload, of whose numbers every digit counts. The text is read again only if a number is asked for,
 * and some number in it may lose digits as a double. Where it is nested too deeply for that, some thousand levels,
 * numbers are doubles.
 *
 * @param text a valid JSON text
 * @param value as `JSON.parse` gives it
 */
export function valuesOf(text: string, value: unknown = JSON.parse(text)): PayloadValues {
  let written: { payload: unknown } | 'no' | undefined;
  const exactNumberAt: ExactNumberAt = (names, double) => {
    written ??= readWritten(text) ?? 'no';
    const found = written === 'no' ? undefined : lookUp(written.payload, names);
    return found instanceof WrittenNumber ? found.value : double;
  };
  return new PayloadValues(value, exactNumberAt);
}

/**
 * A number that is not read before it is asked for: a payload may have thousands. It has no property of its own, to
 * which a path could lead.
 */
class WrittenNumber {
  readonly #text: string;
  #value: number | ExactNumber | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  get value(): number | ExactNumber {
    this.#value ??= readNumber(this.#text);
    return this.#value;
  }
}

function readWritten(text: string): { payload: unknown } | undefined {
  if (!mayLoseDigits(text)) return undefined;
  try {
    return { payload: parseNumbers(text, (digits) => new WrittenNumber(digits)) };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
