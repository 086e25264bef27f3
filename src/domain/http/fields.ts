import { Problem } from './problem.js';

/**
 * Reads a list of fields, such as `id,followers_count`.
 *
 * @param known what may be asked for
 * @returns the fields in the order in which they were named
 * @throws Problem `invalid_fields`, listing the known ones, where a name is unknown, empty or repeated
 */
export function parseFields<Field extends string>(text: string, known: readonly Field[]): Field[] {
  const names = text.split(',');
  const mistakes = new Set<string>();
  names.forEach((name, index) => {
    if (name === '') mistakes.add(text === '' ? 'it is empty' : 'it has an empty name');
    else if (!isKnown(name, known)) mistakes.add(`${describe(name)} is no field`);
    else if (names.indexOf(name) !== index) mistakes.add(`${name} is repeated`);
  });
  if (mistakes.size > 0) {
    const detail = `${[...mistakes].join('; ')}. Name fields once each, separated by commas without spaces; known: ${known.join(', ')}`;
    throw new Problem('invalid_fields', `The parameter fields cannot be used: ${detail}.`, {
      errors: [{ parameter: 'fields', detail }],
    });
  }
  return names as Field[];
}

/** The longest name that is repeated to the caller, characters. */
const MAX_SHOWN = 64;

function describe(name: string): string {
  return JSON.stringify(name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name);
}

function isKnown<Field extends string>(name: string, known: readonly Field[]): name is Field {
  return (known as readonly string[]).includes(name);
}
