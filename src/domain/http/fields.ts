import { cutText } from '../text/unicode.js';
import { MAX_ERRORS, Problem } from './problem.js';

/**
 * Reads a list of fields, such as `id,followers_count`.
 *
 * @param known the fields that there are
 * @returns the fields in the order in which they were named
 * @throws Problem `invalid_fields`, listing the known ones, if a name is unknown, empty or repeated
 */
export function parseFields<Field extends string>(text: string, known: readonly Field[]): Field[] {
  const names = text.split(',');
  const mistakes = new Set<string>();
  names.forEach((name, index) => {
    if (mistakes.size >= MAX_ERRORS) return;
    if (name === '') mistakes.add(text === '' ? 'it is empty' : 'it contains an empty name');
    else if (!isKnown(name, known)) mistakes.add(`${describe(name)} is not a field`);
    else if (names.indexOf(name) !== index) mistakes.add(`${name} is repeated`);
  });
  if (mistakes.size > 0) {
    const detail = `${[...mistakes].join('; ')}. Name each field once, separated by commas without spaces; known fields: ${known.join(', ')}`;
    throw new Problem('invalid_fields', `The parameter fields is not valid: ${detail}.`, {
      errors: [{ parameter: 'fields', detail }],
    });
  }
  return names as Field[];
}

/** How much of an unknown name is shown to the caller, characters. */
const MAX_SHOWN = 64;

function describe(name: string): string {
  return JSON.stringify(cutText(name, MAX_SHOWN, '…'));
}

function isKnown<Field extends string>(name: string, known: readonly Field[]): name is Field {
  return (known as readonly string[]).includes(name);
}
