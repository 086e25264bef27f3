import { PayloadValues } from '../filter/payload-values.js';
import { mayLoseDigits } from './exact-number.js';
import { NumberTexts } from './number-texts.js';

/**
 * The values of a payload, of whose numbers every digit counts. The text is looked at again only if a number is asked
 * for, and some number in it may lose digits as a double; then on the way to this number alone.
 *
 * @param text a valid JSON text
 * @param value as `JSON.parse` gives it
 */
export function valuesOf(text: string, value: unknown = JSON.parse(text)): PayloadValues {
  let written: NumberTexts | 'no' | undefined;
  return new PayloadValues(value, (names, double) => {
    written ??= mayLoseDigits(text) ? new NumberTexts(text) : 'no';
    return written === 'no' ? double : (written.at(names) ?? double);
  });
}
